// cli/model/profile/scopes.h: what the program's own scopes came to, and its marks
// (shared/include/heapprof/heapprof.h).
//
// A scope stands here once for each way that leads to it: "parse" inside of "load" is another one than "parse" alone.
// Its memory and its calls are its own, without those of the scopes inside of it; its time is with them.
#pragma once

#include "cli/model/profile/launches.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Of one device. What was freed in a scope may have been allocated anywhere.
struct ScopeMemory {
  std::string device;
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;
  uint64_t peak_inside_bytes = 0;  // the most that one run through it had more than at its begin, inner scopes included
};

// Calls of a device's API, as in device_api.h.
struct ScopeCall {
  std::string call;
  uint64_t count = 0;
  uint64_t duration_ns = 0;
  uint64_t size_bytes = 0;
};

// What is to be known of a single run through a scope, added up.
inline constexpr uint32_t kInstanceLeftOpen = 1;  // an outer one's end, or that of its thread, ended it
inline constexpr uint32_t kInstanceOpen = 2;      // it was open at the end of all
// it was left, and may have been entered again, by another thread, too
inline constexpr uint32_t kInstanceLeft = 4;
inline constexpr uint32_t kInstanceApart = 8;  // it was in no thread's stack: others of its thread go beside it
inline constexpr uint32_t kInstanceFlags = 15;

// A single run through a scope. Times are since the start.
struct ScopeInstance {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t active_ns = 0;    // without the time for which it was left
  int64_t growth_bytes = 0;  // allocated in it and in scopes inside of it less freed, on all devices
  uint32_t thread = 0;       // kernel thread id: that began it
  uint32_t flags = 0;
};

// What was live on a device before and after each of a scope's instances, in their order.
struct InstanceMemory {
  std::string device;
  std::vector<uint64_t> before_bytes;
  std::vector<uint64_t> after_bytes;
};

// What a function of PyTorch's backward pass did for one operator that left it, in it and in scopes inside of it. Those
// whose operator is not known are in none.
struct BackwardWork {
  std::string operator_path;  // "train > aten::linear > aten::addmm"
  uint64_t begun = 0;
  uint64_t time_ns = 0;
  std::vector<ScopeMemory> memory;  // without peaks
};

struct Scope {
  uint32_t parent = 0;   // its place in Scopes::scopes + 1, which is smaller than this one's; 0: it is outermost
  std::string category;  // empty: none
  std::string name;
  bool is_operator = false;  // of PyTorch's (heapprof run --torch-ops)
  uint64_t begun = 0;
  uint64_t ended = 0;      // of them, by their own end; only these have a time
  uint64_t left_open = 0;  // by an outer one's end, or that of their thread; the rest was open at the end of all
  uint64_t time_ns = 0;
  uint64_t own_time_ns = 0;  // without that of inner scopes
  uint64_t shortest_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t items = 0;
  uint64_t kernel_launches = 0;
  std::vector<uint64_t> durations;              // pairs of a bucket (duration_bucket) and how many were of it, in order
  std::vector<ScopeMemory> memory;              // in the order of the profile's devices
  std::vector<ScopeCall> calls;                 // by name
  std::vector<ScopeInstance> instances;         // those that were kept, by their begin
  std::vector<InstanceMemory> instance_memory;  // in the order of the profile's devices; none without instances
  uint64_t unkept_instances = 0;                // further runs: for want of room, or without a time
  std::vector<BackwardWork> backward_of;        // by the operator's path
  Launches launches;                            // its own
  GpuTime gpu;                                  // likewise
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
  std::vector<Scope> scopes;    // each behind its parent; those of one parent by category and name
  uint64_t lost = 0;            // begins for which there was no room
  uint64_t lost_names = 0;      // times that a name found no room
  uint64_t unmatched_ends = 0;  // ends of NVTX's that no range was open for
  uint64_t nvtx_left = 0;       // objects whose NVTX was left to another tool
  std::vector<Mark> marks;      // in the order of time
  uint64_t lost_marks = 0;
  Launches outside;  // of all scopes
  GpuTimes gpu;
  uint64_t lost_kernel_names = 0;  // times that a kernel's name found no room

  bool empty() const {
    return scopes.empty() && marks.empty() && lost == 0 && lost_marks == 0 && lost_names == 0 && unmatched_ends == 0 &&
           nvtx_left == 0 && outside.empty() && lost_kernel_names == 0 && gpu.mode.empty();
  }
};

// ---- Durations, by buckets that grow with them: a percentile is right within 1/16 ----

inline constexpr uint32_t kDurationBits = 4;
inline constexpr uint32_t kDurationBuckets = (64 - kDurationBits + 1) << kDurationBits;
constexpr uint32_t duration_bucket(uint64_t duration) {
  if (duration < 1u << kDurationBits) return static_cast<uint32_t>(duration);
  const uint32_t shift = 63 - static_cast<uint32_t>(__builtin_clzll(duration)) - kDurationBits;
  return ((shift + 1) << kDurationBits) + static_cast<uint32_t>(duration >> shift & ((1u << kDurationBits) - 1));
}
// The smallest duration of a bucket. pre: it is one
constexpr uint64_t bucket_duration(uint32_t bucket) {
  if (bucket < 1u << kDurationBits) return bucket;
  const uint32_t shift = (bucket >> kDurationBits) - 1;
  return ((uint64_t{1} << kDurationBits) + (bucket & ((1u << kDurationBits) - 1))) << shift;
}
static_assert(duration_bucket(15) == 15 && duration_bucket(16) == 16 && duration_bucket(33) == 32 &&
              bucket_duration(duration_bucket(1u << 20)) == 1u << 20 &&
              duration_bucket(UINT64_MAX) == kDurationBuckets - 1);

// Adds what one device had to the sums of all; of peaks the higher one.
void add_scope_memory(const ScopeMemory& from, std::vector<ScopeMemory>* into);

// The duration below which so many of a hundred lie, within a bucket, and not beyond the scope's longest.
uint64_t percentile_ns(const Scope& scope, unsigned percent);

// What each scope and all scopes inside of it came to, by device. Peaks are the scope's own.
std::vector<std::vector<ScopeMemory>> memory_with_inner(const Scopes& scopes);

// Calls of a device's API, and kernels, of each scope and all scopes inside of it.
std::vector<std::vector<ScopeCall>> calls_with_inner(const Scopes& scopes);
std::vector<uint64_t> launches_with_inner(const Scopes& scopes);
std::vector<uint64_t> gpu_time_with_inner(const Scopes& scopes);

// Puts every scope behind its parent, and those of one parent in order; makes those of one parent and one name one.
void sort_scopes(Scopes* scopes);
// Adds those of another run. Marks are one list, by the time since their own run's start.
void add_scopes(const Scopes& from, Scopes* into);

}  // namespace heapprof::cli
