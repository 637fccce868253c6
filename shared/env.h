// shared/env.h: the two environment variables by which `heapprof run` reaches a target.
#pragma once

namespace heapprof::wire {

// Value: one character, kFollow or kNoFollow, then the path of the collector's socket. The path with a leading zero byte is also
// its abstract name, which is tried first (the abstract one dies with a network namespace, the path with chroot or a change of
// user).
inline constexpr char kSocketVariable[] = "HEAPPROF";
inline constexpr char kFollow = '+';  // children are profiled: the variables stay in the environment
inline constexpr char kNoFollow =
    '-';  // they are not: the agent takes the variables out of the environment at its start
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

}  // namespace heapprof::wire
