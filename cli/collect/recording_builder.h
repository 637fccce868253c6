// cli/collect/recording_builder.h: turns a collector's books into the model's recording: ticks become nanoseconds, and
// tables of slots become lists.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/collect/books/live_samples.h"
#include "cli/collect/clock.h"
#include "cli/collect/fragmentation.h"
#include "cli/collect/leak_watch.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/recorded_scopes.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/module_map.h"
#include "cli/collect/rings/notes.h"
#include "cli/collect/snapshot_clock.h"
#include "cli/collect/untouched.h"
#include "cli/model/profile/recording.h"
#include "shared/scopes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace heapprof::cli {

// The samples of the resident set that matter.
struct ResidentSamples {
  uint64_t at_peak_bytes = 0;
  uint64_t max_bytes = 0;
  // The moment that explains the maximum. Pages stay resident when blocks are freed, so while the heap shrinks, the
  // resident set stays level or even grows a little. So of the moments within 1/32 of the maximum, this is the one at
  // which most was live.
  uint64_t explained_bytes = 0;  // what was resident then
  uint64_t live_at_max_bytes = 0;
  uint64_t mapped_at_max_bytes = 0;

  // What was resident, live on the heap and mapped at one moment.
  void add(uint64_t bytes, uint64_t live_bytes, uint64_t mapped_bytes) {
    max_bytes = std::max(max_bytes, bytes);
    const uint64_t least_bytes = max_bytes - max_bytes / 32;
    const bool is_explained = explained_bytes >= least_bytes;
    const bool has_more = bytes >= least_bytes && live_bytes + mapped_bytes >= live_at_max_bytes + mapped_at_max_bytes;
    if (is_explained && !has_more) return;
    explained_bytes = bytes;
    live_at_max_bytes = live_bytes;
    mapped_at_max_bytes = mapped_bytes;
  }
};

using DeviceUses = std::map<uint32_t, DeviceUse>;  // by wire's device number

struct RecordingParts {
  const CallTree* tree;
  ModuleMap* modules;
  Ledger* ledger;          // finished
  const TickScale* scale;  // calibrated
  uint64_t end_ticks;
  const LiveSamples* samples;
  ResidentSamples resident;
  RecordedNames names;
  const DeviceIdentities* identities;
  const DeviceUses* uses;
  const DeviceLimits* limits;
  const SnapshotClock* snapshots;
  uint64_t snapshot_interval_ns;  // as requested
  const LeakWatch* leaks;         // nullptr: nothing was judged
  std::optional<FragmentationWatch::Found> fragmentation;
  std::optional<UntouchedWatch::Found> untouched;
};

// Fills all but Recording::run. consistency_errors says whether the parts agree.
void build_recording(const RecordingParts& parts, Recording* recording);

}  // namespace heapprof::cli
