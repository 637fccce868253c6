// shared/env.h: the two environment variables by which `heapprof run` reaches a target.
#pragma once

namespace heapprof::wire {

// Name of the collector's socket: a path. The same text with a leading zero byte is its abstract name, which is tried first
// (the abstract one dies with a network namespace, the path with chroot or a change of user).
inline constexpr char kSocketVariable[] = "HEAPPROF";
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

}  // namespace heapprof::wire
