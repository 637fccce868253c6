// cli/model/profile/scopes.h: the numbers of the program's own scopes, and its marks
// (shared/include/heapprof/heapprof.h).
//
// A scope is listed once for each path to it: "parse" inside "load" is not the same as "parse" alone. Its memory and
// its calls exclude those of the scopes inside it; its time includes them.
#pragma once

#include "cli/model/profile/launches.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// For one device. Memory freed in a scope may have been allocated anywhere.
struct ScopeMemory {
  std::string device;
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;
  uint64_t peak_inside_bytes = 0;  // largest growth above its begin in one run through it, including inner scopes
};

// Calls of a device's API, as in device_api.h.
struct ScopeCall {
  std::string call;
  uint64_t count = 0;
  uint64_t duration_ns = 0;
  uint64_t size_bytes = 0;
};

// Flags of a single run through a scope; they are combined by OR.
inline constexpr uint32_t kInstanceLeftOpen = 1;  // ended by the end of an outer scope or of its thread
inline constexpr uint32_t kInstanceOpen = 2;      // open at the end of the run
// the run was suspended (heapprof_scope_leave), and may have been resumed, perhaps by another thread
inline constexpr uint32_t kInstanceLeft = 4;
inline constexpr uint32_t kInstanceApart = 8;  // not on a thread's scope stack: may overlap others of its thread
inline constexpr uint32_t kInstanceFlags = 15;

// A single run through a scope. Times are since the start.
struct ScopeInstance {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t active_ns = 0;    // without the time in which it was suspended
  int64_t growth_bytes = 0;  // allocated less freed in it, including inner scopes, on all devices
  uint32_t thread = 0;       // kernel thread id of the thread that began it
  uint32_t flags = 0;
};

// What was live on a device before and after each of a scope's instances, in their order.
struct InstanceMemory {
  std::string device;
  std::vector<uint64_t> before_bytes;
  std::vector<uint64_t> after_bytes;
};

// The work of a PyTorch backward function for the operator that created it, including inner scopes. Functions whose
// operator is unknown are left out.
struct BackwardWork {
  std::string operator_path;  // "train > aten::linear > aten::addmm"
  uint64_t begun = 0;
  uint64_t time_ns = 0;
  std::vector<ScopeMemory> memory;  // without peaks
};

struct Scope {
  uint32_t parent = 0;   // index into Scopes::scopes + 1, smaller than this one's; 0: it is outermost
  std::string category;  // empty: none
  std::string name;
  bool is_operator = false;  // it is an operator of PyTorch (heapprof run --torch-ops)
  uint64_t begun = 0;
  uint64_t ended = 0;      // of them, ended by their own end; only these have a time
  uint64_t left_open = 0;  // ended with an outer scope or their thread; the remaining ones were open at the end
  uint64_t time_ns = 0;
  uint64_t own_time_ns = 0;  // without inner scopes
  uint64_t shortest_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t items = 0;
  uint64_t kernel_launches = 0;
  std::vector<uint64_t> durations;              // pairs of a bucket (duration_bucket) and its count, in order
  std::vector<ScopeMemory> memory;              // in the order of the profile's devices
  std::vector<ScopeCall> calls;                 // by name
  std::vector<ScopeInstance> instances;         // single runs that were kept, by their begin
  std::vector<InstanceMemory> instance_memory;  // in the order of the profile's devices; empty without instances
  uint64_t unkept_instances = 0;                // runs without an instance: they did not fit, or have no time
  std::vector<BackwardWork> backward_of;        // by the operator's path
  Launches launches;                            // own launches, without inner scopes
  GpuTime gpu;                                  // own GPU time
};

struct MarkedMemory {
  std::string device;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

struct Mark {
  std::string category;  // empty: none
  std::string name;
  uint64_t at_ns = 0;   // since the start
  uint32_t thread = 0;  // kernel thread id
  std::vector<MarkedMemory> memory;
};

struct Scopes {
  std::vector<Scope> scopes;    // each after its parent; children of one parent by category and name
  uint64_t lost = 0;            // begins that did not fit
  uint64_t lost_names = 0;      // times that a name did not fit
  uint64_t unmatched_ends = 0;  // NVTX range ends without an open range
  uint64_t nvtx_left = 0;       // libraries and programs whose NVTX calls were left to another tool
  std::vector<Mark> marks;      // in the order of time
  uint64_t lost_marks = 0;
  Launches outside;  // launches outside all scopes
  GpuTimes gpu;
  uint64_t lost_kernel_names = 0;  // times that a kernel's name did not fit

  bool empty() const {
    return scopes.empty() && marks.empty() && lost == 0 && lost_marks == 0 && lost_names == 0 && unmatched_ends == 0 &&
           nvtx_left == 0 && outside.empty() && lost_kernel_names == 0 && gpu.mode.empty();
  }
};

// ---- Durations, in buckets that grow with the duration: a percentile is right within 1/16 ----

inline constexpr uint32_t kDurationBits = 4;
inline constexpr uint32_t kDurationBuckets = (64 - kDurationBits + 1) << kDurationBits;
constexpr uint32_t duration_bucket(uint64_t duration) {
  if (duration < 1u << kDurationBits) return static_cast<uint32_t>(duration);
  const uint32_t shift = 63 - static_cast<uint32_t>(__builtin_clzll(duration)) - kDurationBits;
  return ((shift + 1) << kDurationBits) + static_cast<uint32_t>(duration >> shift & ((1u << kDurationBits) - 1));
}
// The smallest duration of a bucket. pre: bucket < kDurationBuckets
constexpr uint64_t bucket_duration(uint32_t bucket) {
  if (bucket < 1u << kDurationBits) return bucket;
  const uint32_t shift = (bucket >> kDurationBits) - 1;
  return ((uint64_t{1} << kDurationBits) + (bucket & ((1u << kDurationBits) - 1))) << shift;
}
static_assert(duration_bucket(15) == 15 && duration_bucket(16) == 16 && duration_bucket(33) == 32 &&
              bucket_duration(duration_bucket(1u << 20)) == 1u << 20 &&
              duration_bucket(UINT64_MAX) == kDurationBuckets - 1);

// Adds the numbers to those of the same device in *into. For peaks the larger one counts.
void add_scope_memory(const ScopeMemory& from, std::vector<ScopeMemory>* into);

// The duration below which so many percent of the runs lie, accurate to a bucket, and at most the scope's longest.
uint64_t percentile_ns(const Scope& scope, unsigned percent);

// The sums of each scope and all scopes inside it, by device. Peaks are the scope's own.
std::vector<std::vector<ScopeMemory>> memory_with_inner(const Scopes& scopes);

// The same for calls of a device's API, kernel launches and GPU time.
std::vector<std::vector<ScopeCall>> calls_with_inner(const Scopes& scopes);
std::vector<uint64_t> launches_with_inner(const Scopes& scopes);
std::vector<uint64_t> gpu_time_with_inner(const Scopes& scopes);

// Puts every scope after its parent, and the children of one parent in order. Merges scopes with the same parent,
// category and name.
void sort_scopes(Scopes* scopes);
// Adds the scopes and marks of another run. Marks form one list, ordered by the time since the start of their own run.
void add_scopes(const Scopes& from, Scopes* into);

}  // namespace heapprof::cli
