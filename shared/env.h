// shared/env.h: the two environment variables by which `heapprof run` reaches a target.
#pragma once

namespace heapprof::wire {

// Value: one character, kFollow or kNoFollow; the number of seccomp filters of the collector (left out if it is 0); the
// path of the collector's socket, which begins with a slash. The path with a leading zero byte is also its abstract
// name, which is tried first (in another network namespace only the path works; after chroot or a change of user, only
// the abstract name).
inline constexpr char kSocketVariable[] = "HEAPPROF";
// Children are profiled: the variables stay in the environment.
inline constexpr char kFollow = '+';
// Children are not profiled: the agent removes the variables from the environment at its start.
inline constexpr char kNoFollow = '-';
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

// NVTX loads the library that this names at the first call of each object that uses it. If it is not set, the agent
// answers getenv with its own path (agent/nvtx/variable.cc).
inline constexpr char kNvtxVariable[] = "NVTX_INJECTION64_PATH";
// A tool that the CUDA driver loads: it may want to set the variable above itself.
inline constexpr char kCudaToolVariable[] = "CUDA_INJECTION64_PATH";

// File names of the agent and of the reference unwinder. The agent finds its own entries of LD_PRELOAD by them.
inline constexpr char kAgentFile[] = "libheapprof.so";
inline constexpr char kReferenceFile[] = "libheapprof-verify.so";

}  // namespace heapprof::wire
