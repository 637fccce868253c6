// cli/model/profile/launches.h: what was launched on CUDA devices in one scope, or outside of all: kernels by name and
// shape, and graphs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr const char* kOtherKernels = "(other kernels)";     // what found no room; without a shape
inline constexpr const char* kUnnamedKernels = "(unnamed kernel)";  // nobody could say its name

// A kernel, launched with one shape. Without a shape, all zeros, where it is kOtherKernels.
struct KernelLaunches {
  std::string name;  // demangled
  std::array<uint64_t, 3> grid{};
  std::array<uint64_t, 3> block{};
  uint64_t shared_bytes = 0;  // dynamic shared memory
  uint64_t count = 0;
};

// Graphs of so many kernels: none of these is in KernelLaunches for it.
struct GraphLaunches {
  bool is_known = false;
  uint64_t kernels = 0;  // if that is known
  uint64_t count = 0;
};

struct Launches {
  std::vector<KernelLaunches> kernels;  // by name and shape
  std::vector<GraphLaunches> graphs;    // by whether it is known how many kernels they have, and how many

  bool empty() const { return kernels.empty() && graphs.empty(); }
};

// How long what was launched took on the device.
struct GpuTime {
  uint64_t time_ns = 0;
  uint64_t intervals = 0;
};

// How that was taken (`heapprof run --gpu-time`).
struct GpuTimes {
  std::string mode;       // "deferred", "scope", "immediate"; empty: it was not. Of several runs that differ: "several"
  GpuTime outside;        // of all scopes
  uint64_t unread = 0;    // intervals whose time nobody knows: they were not complete when they were looked at last
  uint64_t captured = 0;  // launches without a time: a stream was being captured
  uint64_t untimed = 0;   // launches without a time: there was no event to be had
  uint64_t waits = 0;     // of the agent's own for the device
  uint64_t waits_ns = 0;
};
void add_gpu_time(const GpuTime& from, GpuTime* into);
void add_gpu_times(const GpuTimes& from, GpuTimes* into);

// Puts them in order, and makes those of one name and shape one.
void sort_launches(Launches* launches);
void add_launches(const Launches& from, Launches* into);

// "256×1×1 of 128×1×1" and the shared memory if there is any; empty: it has no shape.
std::string shape_text(const KernelLaunches& kernel);

}  // namespace heapprof::cli
