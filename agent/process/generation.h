// agent/process/generation.h: tells how long a fact that the agent has cached stays valid.
//
// The agent caches facts: a rule for a program counter, a loaded object, a frame of the previous stack, a thread's
// ring. Each is valid from the moment at which it was learnt until something ends it. A number, the
// *generation*, counts these endings. An ending invalidates everything that is known of a range of addresses: the
// range of an object that was unloaded, or all addresses when a forked child begins a session of its own. A cache
// stores the generation at which it learnt a fact, and asks which ranges have ended since.
//
// Guarantees
//  - If a thread sees a generation, it also sees the ending that began it. Only the last kKeptEndings endings are kept;
//    a fact that was learnt before these counts as invalid.
//  - Asking takes no lock and makes no system call.
//
// Context:  anywhere in the agent. Ending something: slow paths, under the module lock.
// Cost:     the common path of an event compares two generations; a question about endings costs one cache line for
//           each ending.
#pragma once

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

inline constexpr uint32_t kKeptEndings = 64;

struct Ending {
  uint64_t start_avma;
  uint64_t end_avma;
  // A return address follows its call, so one at the very end of the range belongs to it.
  bool holds_return(uint64_t pc_avma) const { return pc_avma - 1 - start_avma < end_avma - start_avma; }
};
inline constexpr Ending kEverything{0, ~uint64_t{0}};

// 0: no session has begun yet. Wraps around, and skips 0.
uint32_t current_generation();

// Invalidates what is known of a range. Returns the new generation. pre: ForkPage::module_lock is held, signals are
// blocked (or there is no other thread).
uint32_t end_what_is_known(const Ending& ending);

// The ending that began this generation. False: it is too long ago.
bool find_ending(uint32_t generation, Ending* ending);

// Calls f(ending) for each ending after generation `since`, up to generation `until`. False: not all of them are kept
// any more.
template <typename F>
inline bool for_each_ending(uint32_t since, uint32_t until, F&& f) {
  if (until - since > kKeptEndings) return false;
  for (uint32_t generation = since; generation != until;) {
    Ending ending;
    if (!find_ending(++generation, &ending)) return false;
    f(ending);
  }
  return true;
}

}  // namespace heapprof::agent
