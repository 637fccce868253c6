// agent/record/clock.h: the time stamps by which the collector orders events of different threads.
#pragma once

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/state.h"

namespace heapprof::agent {

// The next stamp: the time stamp counter, or the next number of the arena's sequence. Cost: 5-7 ns with the counter,
// 6-30 ns with the sequence.
inline uint64_t read_clock() {
  if (__builtin_expect(g_use_tsc, 1)) return read_counter();
  return g_control->sequence.fetch_add(1, std::memory_order_acq_rel) + 1;
}

// The current time, to measure spans on the collector's scale. It is in ticks of the time stamp counter, or in
// nanoseconds if the counter is not used. 0 if it would need a system call that the thread may not make. Cost: 5-7 ns;
// 60 ns without the counter.
inline uint64_t read_ticks() {
  if (__builtin_expect(g_use_tsc, 1)) return read_counter();
  if (is_filtered()) return 0;
  return sys_monotonic_ns();
}

}  // namespace heapprof::agent
