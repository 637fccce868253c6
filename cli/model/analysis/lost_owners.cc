// cli/model/analysis/lost_owners.cc: owners are recorded by stack, but shown by place. If the nodes of a tree come from
// calls of one constructor in three functions, that is one kind of cycle and not seven.
//
// The functions between the place and malloc, not the blocks, show whether a cycle consists of reference-counting
// pointers: std::make_shared, or a vector of shared_ptr that grew. The name of a user function, including parameters,
// says nothing.
#include "cli/model/analysis/lost_owners.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {
namespace {

bool is_of_counted_pointer(std::string_view function) {
  for (const std::string_view name :
       {"shared_ptr", "make_shared", "allocate_shared", "__shared_count", "rc::Rc", "sync::Arc", "RefPtr"}) {
    if (function.find(name) != std::string_view::npos) return true;
  }
  return false;
}

// A place for comparison: its label + 1; 0: no place.
using PlaceLabel = uint32_t;

// The sums of one story.
struct StorySum {
  LostStory story;
  std::map<PlaceLabel, uint64_t> bytes_of;
  std::map<PlaceLabel, uint32_t> frame_of;
  std::vector<std::pair<PlaceLabel, WeightedNode>> nodes;
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
};

class StoryFinder {
 public:
  StoryFinder(const Profile& profile, const PlaceTree& tree, const Device& device)
      : profile_(profile), tree_(tree), device_(device) {
    for (const Site& site : device.sites) site_of_.emplace(site.node, &site);
  }

  std::vector<LostStory> find() {
    for (const LostOwners& owners : device_.lost_owners) {
      if (!is_suppressed(owners)) add(owners);
    }
    std::vector<LostStory> stories;
    for (auto& [key, sum] : sums_) stories.push_back(finish(&sum));
    std::stable_sort(stories.begin(), stories.end(), [](const LostStory& a, const LostStory& b) {
      if (a.frames.empty() != b.frames.empty()) return b.frames.empty();
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.blocks > b.blocks;
    });
    return stories;
  }

 private:
  using Key = std::pair<bool, std::vector<PlaceLabel>>;

  const Site* site_at(uint32_t node) const {
    const auto found = site_of_.find(node);
    return found == site_of_.end() ? nullptr : found->second;
  }

  bool is_suppressed(const LostOwners& owners) const {
    return !owners.parts.empty() &&
           std::all_of(owners.parts.begin(), owners.parts.end(), [this](const OwnerPart& part) {
             const Site* site = site_at(part.node);
             return site != nullptr && site->suppressed_by != 0;
           });
  }

  PlaceLabel label_of(uint32_t node) const {
    const uint32_t place = tree_.place_node[node];
    return place == 0 ? 0 : tree_.labels[profile_.nodes[place].frame] + 1;
  }

  bool is_counted(uint32_t node) const {
    for (const uint32_t place = tree_.place_node[node]; node != 0 && node != place;
         node = profile_.nodes[node].parent) {
      if (is_of_counted_pointer(profile_.frames[profile_.nodes[node].frame].function)) return true;
    }
    return false;
  }

  void add(const LostOwners& owners) {
    Key key = {owners.is_cycle, {}};
    for (const OwnerPart& part : owners.parts) key.second.push_back(label_of(part.node));
    std::sort(key.second.begin(), key.second.end());
    key.second.erase(std::unique(key.second.begin(), key.second.end()), key.second.end());
    StorySum& sum = sums_[std::move(key)];
    LostStory& story = sum.story;
    story.is_cycle = owners.is_cycle;
    story.owners = add_saturating(story.owners, owners.owners);
    story.bytes = add_saturating(story.bytes, owners.bytes);
    story.blocks = add_saturating(story.blocks, owners.blocks);
    for (const OwnerPart& part : owners.parts) add_part(part, &sum);
  }

  void add_part(const OwnerPart& part, StorySum* sum) {
    const PlaceLabel label = label_of(part.node);
    const uint32_t place = tree_.place_node[part.node];
    uint64_t& bytes = sum->bytes_of[label];
    bytes = add_saturating(bytes, part.bytes);
    sum->frame_of.try_emplace(label, place == 0 ? kNoModule : profile_.nodes[place].frame);
    sum->nodes.push_back({label, {place, part.bytes}});
    sum->story.is_counted = sum->story.is_counted || is_counted(part.node);
    const Site* site = site_at(part.node);
    const bool is_whole = site != nullptr && site->grouped_stacks == 0;
    sum->story.all_blocks = add_saturating(sum->story.all_blocks, is_whole ? site->numbers.total_blocks : part.blocks);
    if (!is_whole) return;
    sum->first_ns = std::min(sum->first_ns, site->numbers.first_leak_ns);
    sum->last_ns = std::max(sum->last_ns, site->numbers.last_leak_ns);
  }

  LostStory finish(StorySum* sum) const {
    LostStory& story = sum->story;
    std::vector<std::pair<uint64_t, PlaceLabel>> places;
    for (const auto& [label, bytes] : sum->bytes_of) places.push_back({bytes, label});
    std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [bytes, label] : places) story.frames.push_back(sum->frame_of.at(label));
    if (sum->last_ns > sum->first_ns) story.over_ns = sum->last_ns - sum->first_ns;
    std::vector<WeightedNode> nodes;
    for (const auto& [label, node] : sum->nodes) {
      if (label == places.front().second && node.node != 0) nodes.push_back(node);
    }
    if (!nodes.empty()) story.callers = find_callers(profile_, tree_, std::move(nodes));
    return std::move(story);
  }

  const Profile& profile_;
  const PlaceTree& tree_;
  const Device& device_;
  std::unordered_map<uint32_t, const Site*> site_of_;  // by node
  std::map<Key, StorySum> sums_;
};

}  // namespace

std::vector<LostStory> find_lost_stories(const Profile& profile, const PlaceTree& tree, const Device& device) {
  if (device.lost_owners.empty()) return {};
  return StoryFinder(profile, tree, device).find();
}

}  // namespace heapprof::cli
