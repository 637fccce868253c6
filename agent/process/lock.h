// agent/process/lock.h: the locks of the agent's slow paths.
//
// The locks are words of ForkPage (process/state.h). The kernel wipes them in a forked child, so no child finds one
// taken forever (tests/integration/processes/forks_from_threads.sh). (The context that threads share has a lock, too; a
// child makes another context.) A thread that waits for long sleeps until it is woken, because after an attach a
// thousand threads have their first event at once (tests/integration/attach/zoo.sh: many_threads).
//
// Context:  slow paths. pre: signals are blocked (SignalsBlocked), so that no handler waits for its own thread.
#pragma once

#include "agent/libc/raw.h"
#include "agent/process/state.h"

#include <atomic>
#include <cstdint>

namespace heapprof::agent {

enum LockWord : uint32_t { kFree = 0, kTaken = 1, kTakenAndAwaited = 2 };

inline bool try_lock(std::atomic<uint32_t>& word) {
  uint32_t expected = kFree;
  return word.compare_exchange_strong(expected, kTaken, std::memory_order_acquire);
}
inline void lock(std::atomic<uint32_t>& word) {
  constexpr uint32_t kRounds = 8;  // attempts that let other threads run in between
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (try_lock(word)) return;
    let_others_run(round);
  }
  // From here on this thread may sleep. So it marks the lock as awaited, and the thread that releases the lock wakes
  // another one.
  for (uint32_t round = kRounds; word.exchange(kTakenAndAwaited, std::memory_order_acquire) != kFree; ++round) {
    if (is_filtered()) {
      let_others_run(round);
    } else {
      // A thread under a seccomp filter wakes no other thread, so the sleep has to be short if there are filters.
      // Without filters it is long, because thousands of sleeping threads must not wake up by timeout.
      sys_futex_wait(&word, kTakenAndAwaited, has_filters() ? 20'000'000 : 999'999'999);
    }
  }
}
inline void unlock(std::atomic<uint32_t>& word) {
  if (word.exchange(kFree, std::memory_order_release) != kTakenAndAwaited || is_filtered()) return;
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE, 1);
}

}  // namespace heapprof::agent
