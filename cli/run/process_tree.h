// cli/run/process_tree.h: the processes of a run, their parents, and what became of each; for the summary.
//
// Guarantees
//  - Bounded: beyond kMostEntries processes are only counted.
// Context:  one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// What became of a process. Where it had several images, the fate further down this list counts.
enum class Fate {
  kAllocatedNothing,
  kLeftOut,  // by --follow or --no-follow
  kRefused,  // no memory or descriptor for it, in this process or in that one
  kProfiled,
};
inline constexpr size_t kFates = 4;

// The most that a process used of a GPU.
struct DevicePeak {
  std::string device;
  uint64_t peak_bytes = 0;
};
// Allocations that a device, or `--limit`, had no memory for.
struct RefusedDevice {
  std::string device;
  uint64_t count = 0;
  uint64_t by_limit_count = 0;
  std::string path;  // the profile that has them
};

struct TreeEntry {
  uint64_t pid = 0;
  uint64_t start_ticks = 0;  // 0: unknown
  uint32_t parent = 0;       // index; the root's is its own
  Fate fate = Fate::kAllocatedNothing;
  std::string program = {};
  std::vector<std::string> command = {};  // of the image with the largest peak; likewise title, numbers and `path`
  uint64_t peak_bytes = 0;                // of the heap and of mapped memory, added
  uint64_t resident_bytes = 0;            // at most; 0: unknown
  std::vector<DevicePeak> devices = {};
  std::string path = {};                    // empty: it could not be written
  std::vector<RefusedDevice> refused = {};  // of all its images
  bool runs_on = false;
  bool has_numbers = false;
  bool is_dropped = false;  // as SavedProfile
  std::string title = {};   // as RunInfo's
};

// The largest peak of its memory or of a device.
uint64_t largest_peak(uint64_t peak_bytes, const std::vector<DevicePeak>& devices);
inline uint64_t largest_peak(const TreeEntry& entry) { return largest_peak(entry.peak_bytes, entry.devices); }

class ProcessTree {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kMostEntries = 100'000;

  explicit ProcessTree(pid_t root);

  // The latest process with this pid; kNone: it never asked for an arena.
  uint32_t find(pid_t pid) const;
  // The same, if it also was started then (in clock ticks since boot; 0: unknown). The root is identified by its pid
  // alone, until it has ended.
  uint32_t find(pid_t pid, uint64_t start_ticks) const;
  // From now on another process may have the root's pid.
  void end_root() { is_root_over_ = true; }
  // A new process. kNone: beyond kMostEntries, it is only counted.
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
