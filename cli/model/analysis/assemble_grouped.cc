// cli/model/analysis/assemble_grouped.cc: decides which sites are kept before their stacks are built.
//
// A compiler's run has 600,000 sites in 2 million nodes. Canonicalizing all of them, summing nine of ten, and
// canonicalizing the rest again took 1.3 of the 1.75 s from the program's end to its profile. But the canonical form is
// needed only to know which stacks read alike, and how sites with equal numbers are ordered. Which stacks read alike
// follows from their locations (alike_stacks.h). The order matters only for one group of equal sites, the one at the
// border between kept and summed sites, and there only along one path of the tree (FirstByStack).
//
// If only some frames of two locations read alike, the slow path is taken.
#include "cli/model/analysis/assemble_grouped.h"

#include "cli/model/analysis/alike_stacks.h"
#include "cli/model/analysis/group_rows.h"
#include "cli/model/profile/alike_frames.h"
#include "cli/model/profile/assemble.h"
#include "cli/model/profile/assemble_steps.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

bool has_many_sites(const Recording& recording, const GroupOptions& options) {
  return std::any_of(recording.devices.begin(), recording.devices.end(),
                     [&](const RecordedDevice& device) { return device.sites.size() > options.kept_sites; });
}

// What becomes of each recorded site of a device.
enum class Treatment : uint8_t { kAlone, kInRow, kNone };

struct DeviceSites {
  std::vector<Treatment> treatments;
  std::unordered_map<uint32_t, Site> merged;  // sums of stacks with several sites, by index of the stack's first site
  const RecordedDevice* device = nullptr;

  const SiteNumbers& numbers(uint32_t i) const {
    const auto found = merged.find(i);
    return found == merged.end() ? device->sites[i].numbers : found->second.numbers;
  }
  Site site(uint32_t i) const {
    const auto found = merged.find(i);
    return found == merged.end() ? make_site(*device, device->sites[i]) : found->second;
  }
};

// A stack may have several sites: one of complete unwinds, one of truncated unwinds, and those of stacks that read
// alike.
void merge_twins(DeviceSites* sites, std::vector<uint32_t>* site_of_stack) {
  const std::vector<RecordedSite>& recorded = sites->device->sites;
  for (uint32_t i = 0; i < recorded.size(); ++i) {
    if (!has_counted(recorded[i].numbers)) {
      sites->treatments[i] = Treatment::kNone;
      continue;
    }
    uint32_t& owner = (*site_of_stack)[recorded[i].stack];
    if (owner == 0) {
      owner = i + 1;
      continue;
    }
    sites->treatments[i] = Treatment::kNone;
    const auto [entry, is_new] = sites->merged.try_emplace(owner - 1);
    if (is_new) entry->second = make_site(*sites->device, recorded[owner - 1]);
    merge_site(&entry->second, make_site(*sites->device, recorded[i]), sites->device->totals.peak_bytes);
  }
  if (recorded.size() > site_of_stack->size() / 16) {  // for the next device
    std::fill(site_of_stack->begin(), site_of_stack->end(), 0);
  } else {
    for (const RecordedSite& site : recorded) (*site_of_stack)[site.stack] = 0;
  }
}

// The first `wanted` of some stacks in the order of stacks: a parent before its children, children by their frames.
class FirstByStack {
 public:
  FirstByStack(const Recording& recording, const NamedLocations& names) : recording_(recording), names_(names) {}

  // stacks: all different. Returns, for each node, whether it is one of the first.
  std::vector<char> find(const std::vector<uint32_t>& stacks, uint32_t wanted) {
    count(stacks);
    std::vector<char> is_first(recording_.stacks.size(), 0);
    std::vector<char> is_whole(recording_.stacks.size(), 0);  // all stacks at and below it are among the first
    for (uint32_t at = 0; wanted > 0;) {
      if (is_stack_[at] != 0) {
        is_first[at] = 1;
        --wanted;
      }
      uint32_t next = 0;
      for (const uint32_t child : sorted_children(at)) {
        if (counts_[child] > wanted) {
          next = child;
          break;
        }
        is_whole[child] = 1;
        wanted -= counts_[child];
      }
      if (next == 0) break;
      at = next;
    }
    for (size_t i = 1; i < is_whole.size(); ++i) {
      is_whole[i] |= is_whole[recording_.stacks[i].parent];
      is_first[i] |= is_whole[i];
    }
    return is_first;
  }

 private:
  void count(const std::vector<uint32_t>& stacks) {
    const std::vector<StackNode>& nodes = recording_.stacks;
    is_stack_.assign(nodes.size(), 0);
    counts_.assign(nodes.size(), 0);
    first_child_.assign(nodes.size(), 0);
    next_sibling_.assign(nodes.size(), 0);
    for (const uint32_t stack : stacks) is_stack_[stack] = 1, counts_[stack] = 1;
    for (auto i = static_cast<uint32_t>(nodes.size()); i-- > 1;) {  // children before their parents
      if (counts_[i] == 0) continue;
      counts_[nodes[i].parent] += counts_[i];
      next_sibling_[i] = first_child_[nodes[i].parent];
      first_child_[nodes[i].parent] = i;
    }
  }

  std::vector<uint32_t> sorted_children(uint32_t node) const {
    std::vector<uint32_t> children;
    for (uint32_t at = first_child_[node]; at != 0; at = next_sibling_[at]) children.push_back(at);
    const auto order = [this](uint32_t child) {
      return frame_order(*names_.profile, names_.outermost(recording_.stacks[child].location));
    };
    std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) { return order(a) < order(b); });
    return children;
  }

  const Recording& recording_;
  const NamedLocations& names_;
  std::vector<char> is_stack_;
  std::vector<uint32_t> counts_;  // of stacks at and below each node
  std::vector<uint32_t> first_child_;
  std::vector<uint32_t> next_sibling_;
};

using RankKey = std::pair<uint64_t, uint64_t>;  // sites are ordered by peak, then by total bytes, then by stack

RankKey rank_key(const SiteNumbers& numbers) { return {numbers.peak_bytes, numbers.total_bytes}; }

struct SiteRank {
  RankKey key;
  uint32_t site;
  uint32_t stack;
  bool is_small;  // and it has a stack, so it may go into a row
};

// Sets the treatment of small sites beyond the first `kept_sites`.
void find_small(const Recording& recording, const NamedLocations& names, const GroupOptions& options,
                DeviceSites* sites) {
  // A site has 200 bytes or more, so its key is copied, and each site is read only once.
  std::vector<SiteRank> ranks;
  std::vector<RankKey> keys;
  ranks.reserve(sites->treatments.size());
  keys.reserve(sites->treatments.size());
  for (uint32_t i = 0; i < sites->treatments.size(); ++i) {
    if (sites->treatments[i] != Treatment::kAlone) continue;
    const SiteNumbers& numbers = sites->numbers(i);
    const uint32_t stack = sites->device->sites[i].stack;
    keys.push_back(rank_key(numbers));
    ranks.push_back({keys.back(), i, stack, stack != 0 && is_small_site(numbers, sites->device->totals)});
  }
  if (keys.size() <= options.kept_sites) return;
  const auto border = keys.begin() + static_cast<std::ptrdiff_t>(options.kept_sites);
  std::nth_element(keys.begin(), border, keys.end(), std::greater<>());
  const RankKey border_key = *border;
  const auto above = std::count_if(keys.begin(), border, [&](const RankKey& key) { return key > border_key; });
  std::vector<uint32_t> equals;  // indexes into `ranks`
  std::vector<uint32_t> stacks;  // their stacks
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    const SiteRank& rank = ranks[i];
    if (rank.key > border_key) continue;
    if (rank.key == border_key) {
      equals.push_back(i);
      stacks.push_back(rank.stack);
    } else if (rank.is_small) {
      sites->treatments[rank.site] = Treatment::kInRow;
    }
  }
  const std::vector<char> is_first =
      FirstByStack(recording, names)
          .find(stacks, static_cast<uint32_t>(options.kept_sites - static_cast<size_t>(above)));
  for (const uint32_t i : equals) {
    const SiteRank& rank = ranks[i];
    if (is_first[rank.stack] == 0 && rank.is_small) sites->treatments[rank.site] = Treatment::kInRow;
  }
}

// Marks every node whose stack is in the profile, and the nodes further out.
std::vector<char> find_used(const Recording& recording, const std::vector<DeviceSites>& devices) {
  std::vector<char> is_used(recording.stacks.size(), 0);
  const auto use = [&](uint32_t node) {
    for (; node != 0 && is_used[node] == 0; node = recording.stacks[node].parent) is_used[node] = 1;
  };
  for (const DeviceSites& sites : devices) {
    for (uint32_t i = 0; i < sites.treatments.size(); ++i) {
      if (sites.treatments[i] == Treatment::kAlone) use(sites.device->sites[i].stack);
    }
  }
  for_each_other_node(recording, use);
  return is_used;
}

// A device's rows, and the number of each in GroupRows.
struct SummedRows {
  std::vector<Site> sites;
  std::vector<uint32_t> rows;
};

SummedRows sum_rows(const DeviceSites& sites, const GroupOptions& options, GroupRows* rows) {
  std::vector<uint32_t> small;
  std::vector<GroupRows::Asked> stacks;
  small.reserve(sites.treatments.size());
  stacks.reserve(sites.treatments.size());
  for (uint32_t i = 0; i < sites.treatments.size(); ++i) {
    if (sites.treatments[i] != Treatment::kInRow) continue;
    small.push_back(i);
    stacks.push_back({sites.device->sites[i].stack, sites.numbers(i).leaked_blocks > 0});
  }
  const std::vector<uint32_t> row_of = rows->find(stacks, options.most_rows);
  SummedRows summed;
  std::unordered_map<uint32_t, size_t> site_of_row;
  Site plain;
  SiteCursor cursor;
  for (size_t i = 0; i < small.size(); ++i) {
    std::optional<Site> merged;
    if (sites.merged.count(small[i]) != 0) merged = sites.site(small[i]);
    if (!merged) make_site(*sites.device, sites.device->sites[small[i]], &cursor, &plain);
    Site& site = merged ? *merged : plain;
    site.grouped_stacks = 1;
    const auto [entry, is_new] = site_of_row.try_emplace(row_of[i], summed.sites.size());
    if (is_new) {
      summed.sites.push_back(site);
      summed.rows.push_back(row_of[i]);
    } else {
      merge_site(&summed.sites[entry->second], site, sites.device->totals.peak_bytes);
    }
  }
  return summed;
}

std::vector<SummedRows> sum_all_rows(const std::vector<DeviceSites>& devices, const GroupOptions& options,
                                     GroupRows* rows) {
  std::vector<SummedRows> summed;
  for (const DeviceSites& sites : devices) summed.push_back(sum_rows(sites, options, rows));
  return summed;
}

// Both threads (rows and kept sites) share only data that neither changes.
std::future<std::vector<SummedRows>> begin_rows(const std::vector<DeviceSites>& devices, const GroupOptions& options,
                                                GroupRows* rows) {
  const auto sum = [&devices, &options, rows] { return sum_all_rows(devices, options, rows); };
  try {
    if (options.has_second_thread) return std::async(std::launch::async, sum);
  } catch (const std::system_error&) {  // no thread is available: `sum` runs when its result is needed
  }
  return std::async(std::launch::deferred, sum);
}

// Frames of stacks that are not in the profile are not needed any more.
void drop_unused_frames(Profile* profile) {
  std::vector<uint32_t> number(profile->frames.size(), 0);  // plus one; 0: not used
  std::vector<Frame> frames;
  for (size_t i = 1; i < profile->nodes.size(); ++i) {
    uint32_t& frame = profile->nodes[i].frame;
    if (number[frame] == 0) {
      frames.push_back(std::move(profile->frames[frame]));
      number[frame] = static_cast<uint32_t>(frames.size());
    }
    frame = number[frame] - 1;
  }
  profile->frames = std::move(frames);
}

}  // namespace

Profile assemble_grouped(Recording* recorded, const SymbolTable& symbols, const GroupOptions& options) {
  const Recording& recording = *recorded;
  if (!has_many_sites(recording, options)) return assemble(recording, symbols);
  Profile profile;
  profile.run = recording.run;
  NamedLocations names;
  names.start = add_frames(recording, symbols, &profile);
  names.stands_for = merge_alike_frames(&profile);
  names.profile = &profile;
  if (!merge_alike_stacks(names, recorded)) {
    Profile long_way = assemble(recording, symbols);
    group_small_sites(&long_way, options);
    return long_way;
  }
  std::vector<DeviceSites> devices(recording.devices.size());
  std::vector<uint32_t> site_of_stack(recording.stacks.size(), 0);
  for (size_t d = 0; d < devices.size(); ++d) {
    devices[d].device = &recording.devices[d];
    devices[d].treatments.assign(recording.devices[d].sites.size(), Treatment::kAlone);
    merge_twins(&devices[d], &site_of_stack);
    find_small(recording, names, options, &devices[d]);
  }
  GroupRows rows(recording, names, &profile);
  std::future<std::vector<SummedRows>> pending_rows = begin_rows(devices, options, &rows);
  const std::vector<char> is_used = find_used(recording, devices);
  const std::vector<uint32_t> node_of = add_nodes(recording, names.start, &is_used, &profile);
  for (const DeviceSites& sites : devices) {
    Device& device = profile.devices.emplace_back(make_device_without_sites(*sites.device));
    const auto alone = std::count(sites.treatments.begin(), sites.treatments.end(), Treatment::kAlone);
    device.sites.reserve(static_cast<size_t>(alone) + options.most_rows);
    for (uint32_t i = 0; i < sites.treatments.size(); ++i) {
      if (sites.treatments[i] != Treatment::kAlone) continue;
      device.sites.push_back(sites.site(i));
      device.sites.back().node = node_of[sites.device->sites[i].stack];
    }
  }
  profile.api = recording.api;
  profile.scopes = recording.scopes;
  profile.snapshots = recording.snapshots;
  profile.trace = recording.trace;
  for_each_other_node(profile, [&](uint32_t& node) { node = node_of[node]; });
  rows.add_root();
  std::vector<SummedRows> summed = pending_rows.get();
  for (size_t d = 0; d < devices.size(); ++d) {
    for (size_t i = 0; i < summed[d].rows.size(); ++i) {
      summed[d].sites[i].node = rows.add_to_profile(summed[d].rows[i]);
      profile.devices[d].sites.push_back(std::move(summed[d].sites[i]));
    }
  }
  for (size_t i = 1; i < profile.nodes.size(); ++i) {
    uint32_t& frame = profile.nodes[i].frame;
    if (frame < names.stands_for.size()) frame = names.stands_for[frame];
  }
  drop_unused_frames(&profile);
  canonicalize(&profile);
  return profile;
}

}  // namespace heapprof::cli
