// tests/targets/attack/parts/action.h: what the attacker can do, as a table; adding an action is adding a function and
// a row (actions.def).
//
// An action takes the context of its thread and an amount, and returns a number that depends on these alone: without
// times, addresses and pids, and the same natively and under a profiler. 0 where there is nothing to say; what went
// wrong is below 0.
#pragma once

#include "books.h"

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace attack {

struct Random {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>((next() >> 32) * limit >> 32); }
};

constexpr unsigned kPool = 64;
struct Context {
  Random random;
  void* pool[kPool];
};

using Act = long (*)(Context&, unsigned amount);
enum Flags : unsigned {
  kAnywhere = 0,
  kAtEnd = 1,      // the last step; the process ends in it
  kOwnMalloc = 2,  // only where malloc may be interrupted anywhere (async_malloc.cc)
};
struct Action {
  const char* name;
  Act act;
  unsigned weight, least, most;  // how often, and which amounts
  unsigned flags;
};
extern const Action kActions[];
extern const unsigned kActionCount;
const Action* find_action(const char* name);

// What the program was started with.
struct Start {
  const char* self;
  const char* books;
  char folder[512];  // of plugins
  bool has_own_malloc;
};
extern Start g_start;

// ---- what actions are made of ----

constexpr size_t kMostBytes = 3000;
// `operations` allocations and frees of the first `count` sites of a list; leaves some blocks in the pool.
void work(Context& context, unsigned operations, const uint32_t* sites, unsigned count);
void work_heap(Context& context, unsigned operations);
size_t any_size(Random& random);
void* take(uint32_t site, size_t size);  // calls via_NAME

// The status as one number: 0 … 255, or 1000 + signal.
long wait_for(pid_t child);

pid_t plain_fork();
[[noreturn]] void end_child(int status);

// Held while the loader's lists are changed by steps, and by who forks children that need them whole: natively a child
// may not open libraries or start threads if its parent was inside dlclose.
extern pthread_mutex_t g_loader;

// Forks a child with a book of its own, which runs `body` and ends by _exit of its result. -1 if it cannot be forked.
template <class Body>
pid_t start_child(const char* why, Body body, pid_t (*fork_function)() = plain_fork) {
  const uint32_t index = claim_book(why);
  const pid_t child = fork_function();
  if (child == 0) {
    enter_book(index);
    end_child(static_cast<int>(body() & 0xff));
  }
  book(index)->pid = child;
  return child;
}
template <class Body>
long in_child(const char* why, Body body, pid_t (*fork_function)() = plain_fork) {
  const pid_t child = start_child(why, body, fork_function);
  return child < 0 ? -1 : wait_for(child);
}

}  // namespace attack
