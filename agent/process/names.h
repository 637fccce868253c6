// agent/process/names.h: stores the names of scopes, marks, memory and kernels, each once in the arena. A record needs
// only the name's number.
//
// Guarantees
//  - Equal names get one number, unless two threads, or a thread and its handler, add one at the same moment.
// Context:  threads and signal handlers, without a lock. pre: an arena is mapped.
// Order:    (L) Name::state is release-stored as ready after the rest.
// Cost:     a hash of the text and a comparison; the caller can keep the number.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

// Returns the name's slot in the table + 1; wire::kOtherName if there is no room (counted). nullptr is an empty text.
uint32_t number_of_name(const char* category, const char* text);

// The same for a kernel: its slot in the kernels' table + 1; wire::kOtherKernel if there is no room (counted).
uint32_t number_of_kernel_name(const char* text);
// True if that is the number of this name. pre: the number was given in this session
bool is_kernel_named(uint32_t number, const char* text);

}  // namespace heapprof::agent
