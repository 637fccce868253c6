// cli/model/profile/snapshots.h: what was live at several moments of a run, by site (heapprof run --interval).
//
// A snapshot has each device's sums and its largest blocks. The amounts of a site are stored with the site, as steps:
// one for each snapshot at which the amount differs from that at the snapshot before. So no amount is lost, and a site
// that does not change needs no step.
//
// Guarantees
//  - For each device, the sites' amounts at a snapshot sum to the device's amount there
//    (cli/model/profile/invariants.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// The site has this amount from this snapshot until its next step. Before its first step it has nothing.
struct SiteStep {
  uint32_t snapshot = 0;  // index into Snapshots::snapshots
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

struct LiveAmount {
  uint64_t bytes = 0;
  uint64_t blocks = 0;

  bool operator==(const LiveAmount&) const = default;
};

struct LargeBlock {
  uint32_t node = 0;  // StackNode in a recording, FrameNode in a profile; 0: no stack
  uint64_t size_bytes = 0;
  uint64_t born_ns = 0;  // since the start
};

inline constexpr size_t kMostLargeBlocks = 10;  // for a device at a snapshot

struct SnapshotDevice {
  std::string device;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  std::vector<LargeBlock> largest;  // ten at most, the largest first
};

// Blocks of one stack that held tensors of one role at a snapshot. Roles are "weights", "gradients", "optimizer state",
// "activations", "inputs and other data" (shared/scopes.h).
struct TensorSite {
  uint32_t node = 0;  // as in LargeBlock; 0: the sum of several stacks that did not fit
  std::string role;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

struct LargeTensor : LargeBlock {
  std::string role;
  std::string name;  // the program's name, with its shape: "fc1.weight float32 [512, 256]"; empty: not given
};

struct SnapshotTensors {
  std::string device;  // "host", "cuda:0/tensors"; another device if tensors lie in no segment
  std::vector<TensorSite> sites;
  std::vector<LargeTensor> largest;  // ten at most, the largest first
};

struct Snapshot {
  uint64_t at_ns = 0;  // since the start
  bool is_mark = false;
  std::string category;                 // of the mark; empty: none
  std::string name;                     // of the mark; empty if the snapshot was taken by time
  uint32_t thread = 0;                  // kernel thread id of the thread that made the mark
  std::vector<SnapshotDevice> devices;  // those that had memory up to then
  // Only for heapprof.snapshot(tensors=True): what the program reported.
  std::vector<SnapshotTensors> tensors;
  uint64_t lost_tensors = 0;  // reported tensors at whose address no live block begins

  bool has_tensors() const { return !tensors.empty() || lost_tensors != 0; }
};

inline constexpr uint64_t kMarksOnly = UINT64_MAX;  // value of interval_ns for `--interval marks`
inline constexpr size_t kMostSnapshots = 1000;      // in a profile

struct Snapshots {
  uint64_t interval_ns = 0;         // as requested; kMarksOnly; 0: no snapshots were requested
  uint64_t kept_interval_ns = 0;    // time between snapshots taken by time, after thinning
  uint64_t thinned = 0;             // snapshots taken by time, and later dropped to make room
  uint64_t late = 0;                // moments that passed while heapprof had no time for a snapshot
  uint64_t lost = 0;                // snapshots that did not fit
  std::vector<Snapshot> snapshots;  // in the order of the events

  bool has_any() const { return interval_ns != 0; }
};

// The amount of a site at a snapshot.
LiveAmount amount_at(const std::vector<SiteStep>& steps, uint32_t snapshot);
// Adds `from` to `into`.
void add_steps(std::vector<SiteStep>* into, const std::vector<SiteStep>& from);
// Returns nullptr if the device had no memory up to then.
const SnapshotDevice* find_device(const Snapshot& snapshot, std::string_view device);
// "category: name" of a mark; empty if it is not a mark.
std::string mark_text(const Snapshot& snapshot);

}  // namespace heapprof::cli
