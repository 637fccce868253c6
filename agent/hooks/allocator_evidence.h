// agent/hooks/allocator_evidence.h: whether functions that are named like an allocator's behave like one.
//
// A name proves nothing: a library of menus has a mi_new, too, and takes a title where mimalloc takes a size.
//
// Guarantees
//  - A function that passes gave, for small and for larger sizes, memory that is aligned, writable and not in use
//    elsewhere, and kept what was written when blocks were given back or made larger.
// Not provided: functions that want a heap, copy a text, or resize in place are tried only as part of the others'
//               group.
// Context:  a copy of the process (agent/process/copied_process.h): a function that is no allocator's may do anything,
//           and most often ends the copy.
#pragma once

#include "shared/allocator_functions.h"

#include <stdint.h>

namespace heapprof::agent {

struct TriedFunction {
  wire::AllocatorFunction what;
  bool is_small;  // gives small blocks alone
  uint64_t entry_avma;
};

// True if the first function that gives a block asks malloc or its kin for it, be it for large blocks alone
// (g_self_test_events): where an allocator serves only some sizes itself, the others would count twice.
bool asks_others(const TriedFunction* functions, uint32_t count);
// True if all functions of one allocator behave as an allocator's do.
bool behaves_as_allocator(const TriedFunction* functions, uint32_t count);

}  // namespace heapprof::agent
