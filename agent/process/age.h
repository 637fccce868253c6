// agent/process/age.h: until when what the agent has learnt is true.
//
// A rule for a program counter, a loaded object, a frame of the previous stack, a thread's ring: each is true from the
// moment at which it was learnt until something ends it. The *age* counts these endings. An ending is a range of
// addresses of which nothing that was known is true any more: the range of an object that was unloaded, or all
// addresses, where a forked child begins a life of its own. Whoever keeps something keeps the age at which it was
// learnt, and asks which ranges have ended since.
//
// Guarantees
//  - An ending is seen by whoever sees its age. The last kKeptEndings can be asked for; of what was learnt before
//    these, nobody can tell, and it is taken as ended.
//  - No lock, no system call for those who ask.
//
// Context:  anywhere in the agent. Ending something: slow paths, under the module lock.
// Cost:     comparing two ages is what the common path of an event does; asking costs a cache line an ending.
#pragma once

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

inline constexpr uint32_t kKeptEndings = 64;

struct Ending {
  uint64_t start_avma;
  uint64_t end_avma;
  // A return address lies behind its call, so one at the very end of the range is of it.
  bool holds_return(uint64_t pc_avma) const { return pc_avma - 1 - start_avma < end_avma - start_avma; }
};
inline constexpr Ending kEverything{0, ~uint64_t{0}};

// 0: no life has begun yet. Wraps around, without 0.
uint32_t current_age();

// Ends what is known of a range. Returns the new age. pre: ForkPage::module_lock is held, signals are blocked
// (or there is no other thread).
uint32_t end_what_is_known(const Ending& ending);

// The ending that began this age. False: it is too long ago.
bool find_ending(uint32_t age, Ending* ending);

// Calls f(ending) for all that ended after age `since`, up to age `until`. False: these are more than are kept.
template <typename F>
inline bool for_each_ending(uint32_t since, uint32_t until, F&& f) {
  if (until - since > kKeptEndings) return false;
  for (uint32_t age = since; age != until;) {
    Ending ending;
    if (!find_ending(++age, &ending)) return false;
    f(ending);
  }
  return true;
}

}  // namespace heapprof::agent
