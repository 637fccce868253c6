// agent/hooks/ended_heap.h: records the end of each block of a mimalloc heap that is destroyed together with its
// blocks.
#pragma once

#include "agent/libc/vector_state.h"
#include "agent/record/record.h"

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

// mimalloc's functions that list a heap's blocks; nullptr: it lacks the function, and nothing is recorded.
struct HeapFunctions {
  using VisitBlock = bool(const void* heap, const void* area, void* block, size_t block_bytes, void* argument);
  bool (*visit_blocks)(const void* heap, bool visit_all_blocks, VisitBlock* visit, void* argument) = nullptr;
  const void* (*backing_heap)() = nullptr;
};

// Context: before the real call. A thread's first heap is never destroyed, so nothing is recorded for it.
inline void record_end_of_heap(const HeapFunctions& functions, const void* heap, HookFrame hook_frame) {
  if (functions.visit_blocks == nullptr || functions.backing_heap == nullptr || heap == nullptr ||
      heap == call_kept(functions.backing_heap))
    return;
  HeapFunctions::VisitBlock* const visit = [](const void*, const void*, void* block, size_t, void* frame) {
    if (block != nullptr) record_free(block, *static_cast<const HookFrame*>(frame));
    return true;
  };
  call_kept(functions.visit_blocks, heap, true, visit, &hook_frame);
}

}  // namespace heapprof::agent
