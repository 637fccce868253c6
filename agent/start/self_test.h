// agent/start/self_test.h: finds out at the start whether one call of each hooked function gives one event (realloc
// two), and which functions of the allocator count by themselves.
//
// An allocator whose memalign calls the interposed malloc would count twice; a main program with a malloc of its own
// would not count at all. The agent does not rely on their absence: it tries the functions, and reports the result in
// wire::Hello. If libc serves everything, there is nothing to try: its functions call one another past the hooks, and
// libstdc++'s operator new calls malloc.
//
// Guarantees
//  - The program's heap stays untouched (tests/integration/start/untouched_heap.sh): what is tried is tried in a copy
//    of the process. If no copy can be made (RLIMIT_NPROC, Valgrind), it is tried in the process itself: right numbers
//    come first. If the copy dies, nothing is tried, and every function is reported as failed.
#pragma once

#include <link.h>

#include <cstdint>

namespace heapprof::agent {

// In the result, bit i: function i of hooks.def gave another number of events; bit kSelfTestNew: operator new or delete
// did.
inline constexpr uint32_t kSelfTestNew = 31;
// Finds out which functions count once, and returns those that do not, as bits. pre: real functions are resolved; this
// thread is marked kThreadStarting; signals are blocked.
uint32_t try_allocator(const link_map* malloc_object);
// True if a tool of Valgrind serves malloc itself, as memcheck does: no call of the program's reaches a hook. Known
// after try_allocator().
bool is_malloc_replaced();

}  // namespace heapprof::agent
