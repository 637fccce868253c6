// agent/process/names.h: the names of scopes, marks and memory, each once in the arena; a record needs a number alone.
//
// Guarantees
//  - Equal names get one number, but where two threads, or a thread and its handler, bring one at the same moment.
// Context:  threads and signal handlers, without a lock. pre: an arena is mapped.
// Order:    (L) Name::state is release-stored as ready behind the rest.
// Cost:     a hash of the text and a comparison; a caller keeps the number.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

// The name's slot in the table + 1; wire::kOtherName if there is no room (counted). nullptr is an empty text.
uint32_t number_of_name(const char* category, const char* text);

}  // namespace heapprof::agent
