// agent/start/self_test.h: at the start the agent tries whether one call of each hooked function gives one event
// (realloc two).
//
// An allocator whose memalign calls the interposed malloc would count twice; a main program with a malloc of its own
// would not count at all. Neither is believed to be absent: it is tried, and the result travels in wire::Hello.
#pragma once

#include <cstdint>

namespace heapprof::agent {

// In the result, bit i: function i of hooks.def gave another number of events; bit kSelfTestNew: operator new or delete
// did.
inline constexpr uint32_t kSelfTestNew = 31;
// pre: real functions are resolved; this thread is marked kThreadStarting.
uint32_t run_self_test();

}  // namespace heapprof::agent
