// agent/record/sampling.h: which blocks are recorded when blocks are sampled.
//
// One word, which the collector may change at any time, says what is recorded (SamplingPage::recording). While it is 0,
// a hook reads it once and takes the path of record_fast.h. Otherwise a block that begins counts down the bytes to the
// next sampling point (shared/sampling.h), and a block that ends looks for a mark: usually neither writes a record.
//
// Guarantees
//  - A block whose begin was recorded has its end recorded, in whatever order the word changes: the word is read again
//    after the real call, and a thread that was handed a block has seen the word that the block's begin saw.
//  - When the hook returns, an allocation that is counted down has been counted once, with its bytes, in shared memory.
// Context:  as record.h.
// Cost:     a block that is not chosen, and its end: tests/bench/runs has it.
#pragma once

#include "agent/process/arena.h"
#include "agent/process/loaded_object.h"
#include "agent/record/context.h"
#include "agent/record/record.h"

namespace heapprof::agent {

// 0: everything is recorded.
inline uint32_t recording() { return g_sampling.recording.load(std::memory_order_relaxed); }

// recording() != 0
[[gnu::always_inline]] inline bool is_sampling() { return is_set_in_memory(&g_sampling.recording); }

// True if the block that ends at that address, which has a mark, may be a chosen one; takes the mark. A forked child
// without a session of its own sees its parent's tables and does not change them: its first record begins its session.
inline bool may_be_chosen(uint64_t address) {
  if (HEAPPROF_UNLIKELY(g_fork_page.generation.load(std::memory_order_relaxed) == 0))
    return g_fork_page.state == AgentState::kUnknown;
  return wire::take_chosen(&g_sampling, address);
}

// False: the end of that block is not recorded. Call once for each end, as it takes the mark. pre: is_sampling()
inline bool is_end_told(const void* block, HookFrame hook_frame) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const bool has_mark = g_sampling.marks[wire::mark_index(address)].load(std::memory_order_relaxed) != 0;
  const bool is_chosen = HEAPPROF_UNLIKELY(has_mark) && may_be_chosen(address);
  // If the loader frees a block, it may be unloading an object: recording the free checks for that.
  return is_chosen || HEAPPROF_UNLIKELY(is_loader(returns_to(hook_frame))) ||
         HEAPPROF_UNLIKELY(wire::ends_of(recording()) == wire::Ends::kAll);
}
// True if the end of that block need not be recorded, because not all blocks are and its begin was not. Call once for
// each end, as it takes the mark.
[[gnu::always_inline]] inline bool is_end_passed(const void* block, HookFrame hook_frame) {
  return HEAPPROF_UNLIKELY(is_sampling()) && HEAPPROF_LIKELY(!is_end_told(block, hook_frame));
}
// The block stays live after all: marks it again, so that its end is recorded.
inline void take_back_end(const void* block) {
  const bool is_alive = g_fork_page.generation.load(std::memory_order_relaxed) != 0;
  if (HEAPPROF_UNLIKELY(is_sampling()) && is_alive) wire::add_chosen(&g_sampling, reinterpret_cast<uint64_t>(block));
}

// As record_stacked, if recording() was not 0.
void record_sampled(wire::RecordType type, const void* block, size_t size_bytes, HookFrame hook_frame);

}  // namespace heapprof::agent
