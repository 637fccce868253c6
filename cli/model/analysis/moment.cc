// cli/model/analysis/moment.cc: a moment has only live memory. The live amount is stored in all numbers that bound it,
// so that code that sorts and sums sites works without changes. has_metric() prevents it from being shown as a peak or
// a total.
#include "cli/model/analysis/moment.h"

#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/model/profile/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostNamed = 5;  // most snapshots that a message names

bool is_called(const Snapshot& snapshot, const std::string& name) {
  return snapshot.is_mark &&
         (snapshot.name == name || snapshot.category + ":" + snapshot.name == name || mark_text(snapshot) == name);
}

std::optional<uint64_t> number_of(const std::string& name) {
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc{} || after != end) return std::nullopt;
  return number;
}

// "1 to 7, loaded, trained and 3 more"
std::string known_snapshots(const std::vector<Snapshot>& snapshots) {
  std::string text = snapshots.size() == 1 ? "1" : fmt::format("1 to {}", snapshots.size());
  std::vector<std::string> names;
  for (const Snapshot& snapshot : snapshots) {
    const std::string name = mark_text(snapshot);
    if (snapshot.is_mark && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) text += ", " + names[i];
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

}  // namespace

Result<uint32_t> find_snapshot(const Profile& profile, const std::string& name, const std::string& file) {
  const std::vector<Snapshot>& snapshots = profile.snapshots.snapshots;
  if (snapshots.empty()) return no_snapshots(file);
  if (const std::optional<uint64_t> number = number_of(name)) {
    if (*number >= 1 && *number <= snapshots.size()) return static_cast<uint32_t>(*number - 1);
    return unknown_snapshot(name, file, known_snapshots(snapshots));
  }
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < snapshots.size(); ++i) {
    if (is_called(snapshots[i], name)) found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return unknown_snapshot(name, file, known_snapshots(snapshots));
  std::string numbers;
  for (size_t i = 0; i < std::min(found.size(), kMostNamed); ++i)
    numbers += fmt::format("{}{}", i == 0 ? "" : ", ", found[i] + 1);
  if (found.size() > kMostNamed) numbers += fmt::format(" and {} more", found.size() - kMostNamed);
  return several_snapshots(name, file, numbers);
}

Result<SnapshotPair> find_snapshot_pair(const Profile& profile, const std::string& text, const std::string& file) {
  std::optional<Problem> problem;
  std::optional<SnapshotPair> found;
  for (size_t dots = text.find(".."); dots != std::string::npos; dots = text.find("..", dots + 1)) {
    const Result<uint32_t> base = find_snapshot(profile, text.substr(0, dots), file);
    const Result<uint32_t> current = find_snapshot(profile, text.substr(dots + 2), file);
    if (!base || !current) {
      if (!problem) problem = base ? current.problem() : base.problem();
      continue;
    }
    if (found) return bad_value("--between", text, "two snapshots by number, as their names can be read in two ways");
    found = SnapshotPair{*base, *current};
  }
  if (found) return *found;
  if (problem) return *problem;
  return bad_value("--between", text, "two snapshots, by number or mark: 2..5 or loaded..trained");
}

void keep_moment(uint32_t snapshot, Profile* profile) {
  const Snapshot moment = profile->snapshots.snapshots[snapshot];
  for (Device& device : profile->devices) {
    const SnapshotDevice* said = find_device(moment, device.name);
    Device kept;
    kept.name = device.name;
    kept.identity = device.identity;
    if (said != nullptr) {
      DeviceTotals& totals = kept.totals;
      totals.total_bytes = totals.peak_bytes = totals.leaked_bytes = said->live_bytes;
      totals.total_blocks = totals.peak_blocks = totals.max_blocks = totals.leaked_blocks = said->live_blocks;
    }
    for (const Site& site : device.sites) {
      const LiveAmount live = amount_at(site.steps, snapshot);
      if (live.bytes == 0 && live.blocks == 0) continue;
      Site& of_moment = kept.sites.emplace_back();
      of_moment.node = site.node;
      of_moment.truncated = site.truncated;
      of_moment.grouped_stacks = site.grouped_stacks;
      SizedNumbers& numbers = of_moment.numbers;
      numbers.total_bytes = numbers.max_bytes = numbers.peak_bytes = numbers.leaked_bytes = live.bytes;
      numbers.total_blocks = numbers.max_blocks = numbers.peak_blocks = numbers.leaked_blocks = live.blocks;
    }
    device = std::move(kept);
  }
  std::erase_if(profile->devices, [&](const Device& device) {
    return device.name != "host" && find_device(moment, device.name) == nullptr;
  });
  profile->is_moment = true;
  profile->run.duration_ns = moment.at_ns;
  profile->run.end = {EndKind::kRunning, 0};
  for (Device& device : profile->devices) device.names.clear();  // names are for the whole run
  profile->api = {};
  profile->scopes = {};
  profile->snapshots = {};
  canonicalize(profile);
}

}  // namespace heapprof::cli
