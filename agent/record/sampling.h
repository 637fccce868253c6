// agent/record/sampling.h: where not every block is recorded: which are.
//
// What is recorded is one word that the collector may change at any time (SamplingPage::recording). While it is 0 a
// hook looks at it once and goes the way of record_fast.h. Otherwise a block that begins counts down the bytes to the
// next point (shared/sampling.h), and a block that ends looks for a mark: neither writes a record as a rule.
//
// Guarantees
//  - A block whose begin was recorded has its end recorded, in whatever order the word changes: the word is read again
//    behind the real call, and who was handed a block has seen the word that its begin saw.
//  - Every allocation that is counted down is counted once, with its bytes, in shared memory, when the hook returns.
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

// recording() != 0, in one instruction.
[[gnu::always_inline]] inline bool is_sampling() {
  asm goto("cmpl $0, %0\n\tjne %l1" : : "m"(g_sampling.recording) : "cc" : samples);
  return false;
samples:
  return true;
}

// Of an address with a mark. A forked child without a life of its own has its parent's tables, and leaves them alone:
// what it records begins its life.
inline bool may_be_chosen(uint64_t address) {
  if (HEAPPROF_UNLIKELY(g_fork_page.age.load(std::memory_order_relaxed) == 0))
    return g_fork_page.state == AgentState::kUnknown;
  return wire::take_chosen(&g_sampling, address);
}

// False: the end of that block is told to nobody. Asked once for each end, as it takes the mark. pre: is_sampling()
inline bool is_end_told(const void* block, uint64_t sp) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const bool has_mark = g_sampling.marks[wire::mark_index(address)].load(std::memory_order_relaxed) != 0;
  const bool is_chosen = HEAPPROF_UNLIKELY(has_mark) && may_be_chosen(address);
  // What the loader frees, it frees where it may be unloading an object: who records that has to look.
  return is_chosen || HEAPPROF_UNLIKELY(is_loader(*reinterpret_cast<const uint64_t*>(sp - 8))) ||
         HEAPPROF_UNLIKELY(wire::ends_of(recording()) == wire::Ends::kAll);
}
// The end of that block is told to nobody, as blocks are sampled, or were never recorded. Asked once, likewise.
[[gnu::always_inline]] inline bool is_end_passed(const void* block, uint64_t sp) {
  return HEAPPROF_UNLIKELY(is_sampling()) && HEAPPROF_LIKELY(!is_end_told(block, sp));
}
// The block lives on after all, and its end matters if it did before.
inline void take_back_end(const void* block) {
  const bool is_alive = g_fork_page.age.load(std::memory_order_relaxed) != 0;
  if (HEAPPROF_UNLIKELY(is_sampling()) && is_alive) wire::add_chosen(&g_sampling, reinterpret_cast<uint64_t>(block));
}

// As record_stacked, where recording() was not 0.
void record_sampled(wire::RecordType type, const void* block, size_t size_bytes, const uint64_t* hook_frame);

}  // namespace heapprof::agent
