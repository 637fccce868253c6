// cli/run/process_tree.cc: pids are reused, so a process is found by pid and start time.
//
// A pid alone means the latest process with it. The root is identified by its pid only: we started it, and until we
// wait for it, no other process can have that pid. After that, another process may have it. But if the start time of a
// process with that pid can no longer be read, it is still the root, whose agent asked just before the root ended. The
// tree is bounded, since a build may start any number of processes. Processes beyond the bound are counted, and the
// summary says how many are missing.
#include "cli/run/process_tree.h"

#include <algorithm>

namespace heapprof::cli {

ProcessTree::ProcessTree(pid_t root) { add(root, 0, kRoot); }

uint32_t ProcessTree::find(pid_t pid) const {
  const auto found = latest_.find(pid);
  return found == latest_.end() ? kNone : found->second;
}

uint32_t ProcessTree::find(pid_t pid, uint64_t start_ticks) const {
  const uint32_t found = find(pid);
  if (found == kRoot) return is_root_over_ && start_ticks != 0 ? kNone : kRoot;
  return found == kNone || entries_[found].start_ticks == start_ticks ? found : kNone;
}

uint32_t ProcessTree::add(pid_t pid, uint64_t start_ticks, uint32_t parent) {
  if (entries_.size() == kMostEntries) {
    ++uncounted_;
    return kNone;
  }
  const auto index = static_cast<uint32_t>(entries_.size());
  TreeEntry entry;
  entry.pid = static_cast<uint64_t>(pid);
  entry.start_ticks = start_ticks;
  entry.parent = parent == kNone ? kRoot : parent;
  entries_.push_back(std::move(entry));
  latest_[pid] = index;
  return index;
}

uint64_t largest_peak(uint64_t peak_bytes, const std::vector<DevicePeak>& devices) {
  for (const DevicePeak& device : devices) peak_bytes = std::max(peak_bytes, device.peak_bytes);
  return peak_bytes;
}

void ProcessTree::set_fate(uint32_t index, Fate fate) {
  if (index != kNone) entries_[index].fate = std::max(entries_[index].fate, fate);
}

void ProcessTree::set_running(uint32_t index) {
  if (index != kNone) entries_[index].runs_on = true;
}

void ProcessTree::set_program(uint32_t index, const std::string& program) {
  if (index != kNone) entries_[index].program = program;
}

void ProcessTree::set_profile(uint32_t index, Profiled profile) {
  if (index == kNone) return;
  TreeEntry& entry = entries_[index];
  entry.fate = Fate::kProfiled;
  for (RefusedDevice& refused : profile.refused) entry.refused.push_back(std::move(refused));
  if (entry.has_numbers && largest_peak(profile.peak_bytes, profile.devices) < largest_peak(entry))
    return;  // another image's peak is larger
  entry.has_numbers = true;
  entry.peak_bytes = profile.peak_bytes;
  entry.resident_bytes = profile.resident_bytes;
  entry.devices = std::move(profile.devices);
  entry.path = std::move(profile.path);
  entry.is_dropped = profile.is_dropped && index != kRoot;  // the program that was started is never dropped
  entry.command = std::move(profile.command);
  entry.title = std::move(profile.title);
}

}  // namespace heapprof::cli
