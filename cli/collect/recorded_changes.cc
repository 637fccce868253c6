// cli/collect/recorded_changes.cc: copies only the stacks of the largest sites, because names cost more than numbers.
#include "cli/collect/recorded_changes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

// A site's growth; modulo 2^64.
Amount amount_of(const SiteChange& change, wire::Measure measure) {
  switch (measure) {
    case wire::Measure::kPeak: return change.peak;
    case wire::Measure::kLive: return change.live;
    case wire::Measure::kTotalBytes:
    case wire::Measure::kTotalBlocks: break;
  }
  return change.total;
}

bool is_less(uint64_t difference) { return static_cast<int64_t>(difference) < 0; }
uint64_t at_least_nothing(uint64_t difference) { return is_less(difference) ? 0 : difference; }

void add(const Amount& amount, Amount* sum) {
  sum->bytes += amount.bytes;
  sum->blocks += amount.blocks;
}

// Copies stacks from the collector's tree to a tree that has only the copied stacks.
class StackCopier {
 public:
  StackCopier(const CallTree& tree, const ModuleMap& modules, Recording* recording)
      : tree_(tree), modules_(modules), recording_(*recording) {
    recording_.modules = modules_.modules();
    recording_.stacks.assign(1, {});
    copied_[0] = 0;
  }

  uint32_t copy(uint32_t node) {
    std::vector<uint32_t> missing;
    for (; copied_.count(node) == 0; node = tree_.nodes()[node].parent) missing.push_back(node);
    uint32_t parent = copied_[node];
    for (; !missing.empty(); missing.pop_back()) {
      const StackNode& from = tree_.nodes()[missing.back()];
      if (!StackFolder::is_mark(from)) {
        recording_.stacks.push_back({parent, copy_location(from.location)});
        parent = static_cast<uint32_t>(recording_.stacks.size() - 1);
      }
      copied_[missing.back()] = parent;
    }
    return parent;
  }

 private:
  uint32_t copy_location(uint32_t location) {
    const auto [at, is_new] = locations_.try_emplace(location, static_cast<uint32_t>(recording_.locations.size()));
    if (is_new) recording_.locations.push_back(modules_.locations()[location]);
    return at->second;
  }

  const CallTree& tree_;
  const ModuleMap& modules_;
  Recording& recording_;
  std::map<uint32_t, uint32_t> copied_;     // the new node of each node
  std::map<uint32_t, uint32_t> locations_;  // the new location of each location
};

}  // namespace

void record_changes(const std::vector<SiteChange>& changes, wire::Measure measure, const CallTree& tree,
                    const ModuleMap& modules, RecordedChanges* recorded) {
  const bool counts_blocks = measure == wire::Measure::kTotalBlocks;
  std::vector<std::pair<uint64_t, const SiteChange*>> more;  // by what is measured
  for (const SiteChange& change : changes) {
    const Amount amount = amount_of(change, measure);
    const uint64_t measured = counts_blocks ? amount.blocks : amount.bytes;
    if (is_less(measured)) {
      add({0 - amount.bytes, 0 - amount.blocks}, &recorded->fewer);
      ++recorded->fewer_count;
    } else if (measured != 0) {
      more.emplace_back(measured, &change);
    }
  }
  std::stable_sort(more.begin(), more.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  recorded->measure = measure;
  Recording& recording = recorded->recording;
  StackCopier copier(tree, modules, &recording);
  RecordedDevice& device = recording.devices.emplace_back();
  for (size_t i = 0; i < more.size(); ++i) {
    const Amount amount = amount_of(*more[i].second, measure);
    if (i >= kMostRecorded) {
      add(amount, &recorded->others);
      ++recorded->others_count;
      continue;
    }
    const SiteKey& key = tree.sites()[more[i].second->site];
    RecordedSite& site = device.sites.emplace_back();
    site.stack = copier.copy(key.stack);
    site.truncated = key.truncated != 0;
    site.numbers.total_bytes = at_least_nothing(amount.bytes);
    site.numbers.total_blocks = at_least_nothing(amount.blocks);
  }
  recorded->fewer.blocks = at_least_nothing(recorded->fewer.blocks);
  recorded->others.blocks = at_least_nothing(recorded->others.blocks);
}

}  // namespace heapprof::cli
