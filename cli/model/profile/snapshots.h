// cli/model/profile/snapshots.h: what was live at several moments of a run, by site (heapprof run --interval).
//
// A snapshot itself has each device's sums and its largest blocks. What each site had at it stands with the site, as
// steps: one for each snapshot at which the site had another amount than at the one before. So nothing is left out, and
// a site that rests costs nothing.
//
// Guarantees
//  - Of each device the sites' amounts at a snapshot sum to what the snapshot says (cli/model/profile/invariants.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// From this snapshot on the site has so much, until its next step. Before its first one it has nothing.
struct SiteStep {
  uint32_t snapshot = 0;  // its place in Snapshots::snapshots
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

inline constexpr size_t kMostLargeBlocks = 10;  // of a device at a snapshot

struct SnapshotDevice {
  std::string device;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  std::vector<LargeBlock> largest;  // ten at most, the largest first
};

// What tensors of one role had at a snapshot, in whole blocks of one stack: "weights", "gradients", "optimizer state",
// "activations", "inputs and other data" (shared/scopes.h).
struct TensorSite {
  uint32_t node = 0;  // as in LargeBlock; 0: of several, for want of room
  std::string role;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

struct LargeTensor : LargeBlock {
  std::string role;
  std::string name;  // as the program has it, with its shape: "fc1.weight float32 [512, 256]"; empty: not said
};

struct SnapshotTensors {
  std::string device;  // "host", "cuda:0/tensors"; another one where tensors lie in no segment
  std::vector<TensorSite> sites;
  std::vector<LargeTensor> largest;  // ten at most, the largest first
};

struct Snapshot {
  uint64_t at_ns = 0;  // since the start
  bool is_mark = false;
  std::string category;                 // of the mark; empty: none
  std::string name;                     // of the mark; empty: the time had come
  uint32_t thread = 0;                  // which made the mark: kernel thread id
  std::vector<SnapshotDevice> devices;  // those that had ever had memory
  // Of heapprof.snapshot(tensors=True) alone, what the program told of.
  std::vector<SnapshotTensors> tensors;
  uint64_t lost_tensors = 0;  // told of, but no live block begins there

  bool has_tensors() const { return !tensors.empty() || lost_tensors != 0; }
};

inline constexpr uint64_t kMarksOnly = UINT64_MAX;  // as an interval: `--interval marks`
inline constexpr size_t kMostSnapshots = 1000;      // in a profile

struct Snapshots {
  uint64_t interval_ns = 0;         // as it was asked for; kMarksOnly; 0: no snapshots were asked for
  uint64_t kept_interval_ns = 0;    // after thinning: those that were taken by time are so far apart
  uint64_t thinned = 0;             // taken by time, and given up for later ones
  uint64_t late = 0;                // moments that passed while heapprof had no time for a snapshot
  uint64_t lost = 0;                // for which there was no room
  std::vector<Snapshot> snapshots;  // in the order of the events

  bool has_any() const { return interval_ns != 0; }
};

// What a site had at a snapshot.
LiveAmount amount_at(const std::vector<SiteStep>& steps, uint32_t snapshot);
// `into` has the sum of both from now on.
void add_steps(std::vector<SiteStep>* into, const std::vector<SiteStep>& from);
// nullptr: the device had never had memory by then.
const SnapshotDevice* find_device(const Snapshot& snapshot, std::string_view device);
// "category: name" of a mark; empty: it is none.
std::string mark_text(const Snapshot& snapshot);

}  // namespace heapprof::cli
