// agent/process/names.h: the names of scopes, marks, memory and kernels, each once in the arena; a record needs a
// number alone.
//
// Guarantees
//  - Equal names get one number, unless two threads, or a thread and its handler, add one at the same moment.
// Context:  threads and signal handlers, without a lock. pre: an arena is mapped.
// Order:    (L) Name::state is release-stored as ready after the rest.
// Cost:     a hash of the text and a comparison; a caller keeps the number.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

// The name's slot in the table + 1; wire::kOtherName if there is no room (counted). nullptr is an empty text.
uint32_t number_of_name(const char* category, const char* text);

// The same of a kernel: its slot in their table + 1; wire::kOtherKernel if there is no room (counted).
uint32_t number_of_kernel_name(const char* text);
// True if that is the number of this name. pre: it is a number that was given in this life
bool is_kernel_named(uint32_t number, const char* text);

}  // namespace heapprof::agent
