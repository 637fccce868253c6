// cli/model/compare/rank_findings.cc: if all ranks differ, a rank that is a quarter above the median is normal. So a
// high value must exceed the usual differences. It must also exceed a quarter of the median, because if all ranks are
// nearly equal, a few bytes exceed the usual differences.
#include "cli/model/compare/rank_findings.h"

#include "cli/base/median.h"
#include "cli/base/saturating.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heapprof::cli {
namespace {

bool has_ranks(const Profile& profile) {
  return std::any_of(profile.merged.begin(), profile.merged.end(),
                     [](const MergedPart& part) { return part.job.is_rank_itself(); });
}

// The inputs that count: ranks, or all if the profile has no ranks.
std::vector<const MergedPart*> parts_of_ranks(const Profile& profile) {
  const bool only_ranks = has_ranks(profile);
  std::vector<const MergedPart*> parts;
  for (const MergedPart& part : profile.merged) {
    if (!only_ranks || part.job.is_rank_itself()) parts.push_back(&part);
  }
  return parts;
}

}  // namespace

std::vector<NotedInput> find_failed_inputs(const Profile& profile) {
  std::vector<NotedInput> failed;
  for (const MergedPart* part : parts_of_ranks(profile)) {
    if (!failed.empty() && failed.back().part->input == part->input) continue;
    if (part->end.kind == EndKind::kSignaled)
      failed.push_back({part, fmt::format("killed by signal {}", part->end.status)});
    if (part->end.kind == EndKind::kExited && part->end.status != 0)
      failed.push_back({part, fmt::format("exit {}", part->end.status)});
  }
  return failed;
}

std::vector<NotedInput> find_high_inputs(const Profile& profile) {
  struct High {
    const MergedPart* part;
    uint64_t above_bytes;
    uint64_t median_bytes;
  };
  std::map<std::string, std::vector<const MergedPart*>> devices;
  for (const MergedPart* part : parts_of_ranks(profile)) devices[part->device].push_back(part);
  std::map<uint32_t, High> highest;  // by input
  for (const auto& [device, parts] : devices) {
    if (parts.size() < 3) continue;
    std::vector<uint64_t> peaks;
    for (const MergedPart* part : parts) peaks.push_back(part->peak_bytes);
    const uint64_t middle = median(peaks);
    for (uint64_t& peak : peaks) peak = distance(peak, middle);
    const uint64_t deviation = median(peaks);
    for (const MergedPart* part : parts) {
      if (part->peak_bytes <= middle) continue;
      const uint64_t above = part->peak_bytes - middle;
      if (above / kDeviationsAbove <= deviation || above <= middle / 4) continue;
      const auto [entry, is_new] = highest.try_emplace(part->input, High{part, above, middle});
      if (!is_new && entry->second.above_bytes < above) entry->second = {part, above, middle};
    }
  }
  std::vector<High> order;
  for (const auto& [input, high] : highest) order.push_back(high);
  std::stable_sort(order.begin(), order.end(),
                   [](const High& a, const High& b) { return a.above_bytes > b.above_bytes; });
  if (order.size() > kMostHighInputs) order.resize(kMostHighInputs);
  std::vector<NotedInput> noted;
  for (const High& high : order) {
    noted.push_back({high.part, fmt::format("peak of {} {}, median {}", high.part->device,
                                            format_bytes(high.part->peak_bytes), format_bytes(high.median_bytes))});
  }
  return noted;
}

MissingRanks find_missing_ranks(const Profile& profile) {
  MissingRanks missing;
  std::set<uint64_t> present;
  for (const MergedPart& part : profile.merged) {
    if (!part.job.is_rank_itself()) continue;
    if (!part.job.ranks || (missing.ranks != 0 && missing.ranks != *part.job.ranks)) return {};
    missing.ranks = *part.job.ranks;
    present.insert(*part.job.rank);
  }
  missing.count = missing.ranks - std::min<uint64_t>(missing.ranks, present.size());
  for (uint64_t rank = 0;
       rank < missing.ranks && missing.first.size() < std::min(missing.count, uint64_t{kMostNamedRanks}); ++rank) {
    if (present.count(rank) == 0) missing.first.push_back(rank);
  }
  return missing;
}

std::string input_name(const MergedPart& part) {
  if (!part.job.has_rank()) return part.file;
  return fmt::format("rank {}{}", *part.job.rank, part.job.host.empty() ? "" : " on " + part.job.host);
}

RankCount count_ranks(const Profile& profile) {
  RankCount count;
  std::set<std::string> hosts;
  std::set<std::string> launchers;
  std::set<std::pair<std::string, uint64_t>> ranks;
  for (const MergedPart& part : profile.merged) {
    if (!part.job.is_rank_itself()) continue;
    hosts.insert(part.job.host);
    launchers.insert(part.job.launcher);
    ranks.insert({part.job.launcher, *part.job.rank});
  }
  count.ranks = ranks.size();
  count.hosts = hosts.size();
  if (!launchers.empty()) count.launcher = launchers.size() == 1 ? *launchers.begin() : "several launchers";
  return count;
}

}  // namespace heapprof::cli
