// agent/clock.h: the stamps by which the collector orders events of different threads.
#pragma once

#include "agent/arena.h"
#include "agent/lifecycle.h"

#include <x86intrin.h>

namespace heapprof::agent {

// Time stamp counter, or the next number of the arena's sequence. Cost: 5-7 ns; 6-30 ns with the sequence.
inline uint64_t read_clock() {
  if (__builtin_expect(g_use_tsc, 1)) return __rdtsc();
  return g_control->sequence.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace heapprof::agent
