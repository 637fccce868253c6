// cli/model/profile/launches.h: launches on CUDA devices in one scope, or outside all scopes: kernels by name and
// shape, and graphs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr const char* kOtherKernels = "(other kernels)";     // kernels that did not fit; without a shape
inline constexpr const char* kUnnamedKernels = "(unnamed kernel)";  // its name could not be found

// A kernel, launched with one shape. kOtherKernels has no shape: all zeros.
struct KernelLaunches {
  std::string name;  // demangled
  std::array<uint64_t, 3> grid{};
  std::array<uint64_t, 3> block{};
  uint64_t shared_bytes = 0;  // dynamic shared memory
  uint64_t count = 0;
};

// Launches of graphs that have this number of kernels. These kernels are not counted in KernelLaunches.
struct GraphLaunches {
  bool is_known = false;
  uint64_t kernels = 0;  // if is_known
  uint64_t count = 0;
};

struct Launches {
  std::vector<KernelLaunches> kernels;  // by name and shape
  std::vector<GraphLaunches> graphs;    // by whether the number of kernels is known, and by that number

  bool empty() const { return kernels.empty() && graphs.empty(); }
};

// The time that launched work took on the device.
struct GpuTime {
  uint64_t time_ns = 0;
  uint64_t intervals = 0;
};

// How device times were measured (`heapprof run --gpu-time`).
struct GpuTimes {
  std::string mode;       // "deferred", "scope", "immediate"; empty: not measured; "several": merged runs differ
  GpuTime outside;        // outside all scopes
  uint64_t unread = 0;    // intervals of unknown time: they were not complete at the last query
  uint64_t captured = 0;  // launches without a time: a stream was being captured
  uint64_t untimed = 0;   // launches without a time: no event was available
  uint64_t waits = 0;     // how often the agent itself waited for the device
  uint64_t waits_ns = 0;
};
void add_gpu_time(const GpuTime& from, GpuTime* into);
void add_gpu_times(const GpuTimes& from, GpuTimes* into);

// Sorts kernels and graphs, and merges entries with the same name and shape.
void sort_launches(Launches* launches);
void add_launches(const Launches& from, Launches* into);

// "256×1×1 of 128×1×1" and the shared memory if there is any. Empty if the kernel has no shape.
std::string shape_text(const KernelLaunches& kernel);

}  // namespace heapprof::cli
