// cli/run/process_tree.h: the processes of a run, their parents, and how each was profiled; for the summary.
//
// Guarantees
//  - The tree is bounded: processes beyond kMostEntries are only counted.
// Context:  one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// How a process was profiled. If it had several program images, the value furthest down counts.
enum class Fate {
  kAllocatedNothing,
  kLeftOut,  // by --follow or --no-follow
  kRefused,  // heapprof or the process had no memory or descriptor for it
  kProfiled,
};
inline constexpr size_t kFates = 4;

// The most memory that a process used on a GPU.
struct DevicePeak {
  std::string device;
  uint64_t peak_bytes = 0;
};
// Allocations that failed because a device was full, or because of `--limit`.
struct RefusedDevice {
  std::string device;
  uint64_t count = 0;
  uint64_t by_limit_count = 0;
  std::string path;  // the profile that has them
};

struct TreeEntry {
  uint64_t pid = 0;
  uint64_t start_ticks = 0;  // 0: unknown
  uint32_t parent = 0;       // the parent's index; the root has its own index
  Fate fate = Fate::kAllocatedNothing;
  std::string program = {};
  std::vector<std::string> command = {};  // of the image with the largest peak; likewise title, numbers and `path`
  uint64_t peak_bytes = 0;                // of the heap and of mapped memory, added
  uint64_t resident_bytes = 0;            // the most resident memory; 0: unknown
  std::vector<DevicePeak> devices = {};
  std::string path = {};                    // empty: the profile could not be written
  std::vector<RefusedDevice> refused = {};  // of all its images
  bool runs_on = false;
  bool has_numbers = false;
  bool is_dropped = false;  // as SavedProfile::is_dropped
  std::string title = {};   // as RunInfo::title
};

// The larger of a process's memory peak and of its largest device peak.
uint64_t largest_peak(uint64_t peak_bytes, const std::vector<DevicePeak>& devices);
inline uint64_t largest_peak(const TreeEntry& entry) { return largest_peak(entry.peak_bytes, entry.devices); }

class ProcessTree {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kMostEntries = 100'000;

  explicit ProcessTree(pid_t root);

  // The latest process with this pid; kNone: no such process asked for an arena.
  uint32_t find(pid_t pid) const;
  // The same, but the process must also have this start time (clock ticks since boot; 0: unknown). Until the root has
  // ended, its pid alone identifies it.
  uint32_t find(pid_t pid, uint64_t start_ticks) const;
  // From now on another process may have the root's pid.
  void end_root() { is_root_over_ = true; }
  // Adds a new process; kNone: the tree is full, and the process is only counted.
  uint32_t add(pid_t pid, uint64_t start_ticks, uint32_t parent);
  void set_fate(uint32_t index, Fate fate);
  void set_running(uint32_t index);
  void set_program(uint32_t index, const std::string& program);

  struct Profiled {
    uint64_t peak_bytes = 0;
    std::string path = {};
    std::vector<std::string> command = {};
    std::vector<DevicePeak> devices = {};
    std::vector<RefusedDevice> refused = {};
    uint64_t resident_bytes = 0;
    bool is_dropped = false;
    std::string title = {};
  };
  void set_profile(uint32_t index, Profiled profile);

  const std::vector<TreeEntry>& entries() const { return entries_; }
  uint64_t uncounted() const { return uncounted_; }  // beyond kMostEntries

 private:
  std::vector<TreeEntry> entries_;
  std::map<pid_t, uint32_t> latest_;
  uint64_t uncounted_ = 0;
  bool is_root_over_ = false;
};

}  // namespace heapprof::cli
