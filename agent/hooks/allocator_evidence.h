// agent/hooks/allocator_evidence.h: checks whether functions that are named like an allocator's behave like one.
//
// A name proves nothing: a library of menus has a mi_new, too, and takes a title where mimalloc takes a size.
//
// Guarantees
//  - If a function passes, the memory that it gave was aligned, writable and not in use elsewhere, for small and for
//    larger sizes. What was written there was kept when other blocks were freed, or when the block was made larger.
// Not provided: a trial of functions that need a heap, copy a text, or resize in place: they pass if the other
//               functions of their allocator pass.
// Context:  a copy of the process (agent/process/copied_process.h), because a function that is not an allocator's may
//           do anything, and most often crashes the copy.
#pragma once

#include "shared/allocator_functions.h"

#include <stdint.h>

namespace heapprof::agent {

struct TriedFunction {
  wire::AllocatorFunction what;
  bool is_small;  // allocates small blocks only
  uint64_t entry_avma;
};

// True if the functions get blocks from malloc or its family, even if only large ones. Tries the first function that
// allocates blocks of any size, and looks whether a hook was called (g_self_test_events). If an allocator serves only
// some sizes itself, blocks of the other sizes would count twice.
bool asks_others(const TriedFunction* functions, uint32_t count);
// True if all functions of one allocator behave as an allocator's do.
bool behaves_as_allocator(const TriedFunction* functions, uint32_t count);

}  // namespace heapprof::agent
