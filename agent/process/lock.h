// agent/process/lock.h: the spin locks of the agent's slow paths.
//
// The locks are words of ForkPage (process/state.h): the kernel wipes them in a forked child, so no child finds one
// taken for ever (tests/integration/processes/forks_from_threads.sh).
//
// Context:  slow paths. pre: signals are blocked (SignalsBlocked), so that no handler waits for its own thread.
#pragma once

#include "agent/process/state.h"

#include <atomic>

namespace heapprof::agent {

inline void lock(std::atomic<uint32_t>& word) {
  for (uint32_t round = 0; word.exchange(1, std::memory_order_acquire) != 0; ++round) let_others_run(round);
}
inline bool try_lock(std::atomic<uint32_t>& word) { return word.exchange(1, std::memory_order_acquire) == 0; }
inline void unlock(std::atomic<uint32_t>& word) { word.store(0, std::memory_order_release); }

}  // namespace heapprof::agent
