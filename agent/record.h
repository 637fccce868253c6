// agent/record.h: one call per event of the malloc family.
//
// Guarantees
//  - A hook's errno is untouched. A call that finds no context or no space changes nothing but a counter.
// Context:  hooks, between nothing: the real allocator is not running in this thread.
// Cost:     see agent/README.md.
#pragma once

#include "agent/unwind.h"

#include <cstddef>

namespace heapprof::agent {

// The state of a hook's caller, from the hook's own frame pointer (built with -fno-omit-frame-pointer).
#define HEAPPROF_CALLER() ::heapprof::agent::caller_of(static_cast<const uint64_t*>(__builtin_frame_address(0)))
inline StartFrame caller_of(const uint64_t* frame) {
  return {frame[1], reinterpret_cast<uint64_t>(frame + 2), frame[0]};
}

// After the real call returned a block.
void record_malloc(const void* block, size_t size_bytes, const StartFrame& caller);
// Before the real call. pre: block is not nullptr
void record_free(const void* block, const StartFrame& caller);
// Before the real realloc of a block. pre: block is not nullptr
void record_realloc_begin(const void* block, const StartFrame& caller);
// After it returned. `fresh` is nullptr if it failed, or freed the block because size_bytes was 0.
void record_realloc_end(const void* fresh, size_t size_bytes, const StartFrame& caller);

}  // namespace heapprof::agent
