// cli/model/analysis/places.cc: parents have smaller numbers, so one pass over the nodes assigns all places.
#include "cli/model/analysis/places.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/library_code.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/python/places.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string_view>

namespace heapprof::cli {
namespace {

// What two frames must share to be one place: function, file and line; without a file also the module, without a
// function also the address. Functions and files are numbers.
struct LabelKey {
  uint64_t texts = 0;
  uint64_t line_and_module = 0;
  uint64_t svma = 0;

  bool operator==(const LabelKey&) const = default;
};

// Mixed with a secret random number: otherwise a profile made to cause collisions would take hours.
struct LabelHash {
  uint64_t secret = uint64_t{std::random_device{}()} << 32 | std::random_device{}();

  uint64_t mixed(uint64_t hash, uint64_t value) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{hash ^ value} * (secret | 1);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  size_t operator()(const LabelKey& key) const {
    return mixed(mixed(mixed(secret, key.texts), key.line_and_module), key.svma);
  }
  size_t operator()(std::string_view text) const { return mixed(secret, std::hash<std::string_view>()(text)); }
};

// Numbers from 0, equal for equal keys. Open addressing, at most half full: a container with one node per key took 20
// ms of a large profile's summary.
template <typename Key>
class Numbers {
 public:
  // most: the number of keys.
  explicit Numbers(size_t most) {
    size_t slots = 64;
    while (slots < 2 * most) slots *= 2;
    slots_.resize(slots);
  }
  uint32_t of(const Key& key) {
    const size_t hash = hash_(key);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.number_plus_one == 0) {
        slot = {key, hash, ++count_};
        return count_ - 1;
      }
      if (slot.hash == hash && slot.key == key) return slot.number_plus_one - 1;
    }
  }
  uint32_t count() const { return count_; }

 private:
  struct Slot {
    Key key = {};
    size_t hash = 0;
    uint32_t number_plus_one = 0;  // 0: free
  };
  LabelHash hash_;
  std::vector<Slot> slots_;
  uint32_t count_ = 0;
};

FrameFold fold_of(const Profile& profile, uint32_t frame) {
  return frame < profile.folds.size() ? profile.folds[frame] : FrameFold::kNot;
}
bool is_folded(FrameFold fold) { return fold != FrameFold::kNot && fold != FrameFold::kUndone; }

bool is_unnamed(const Profile& profile, uint32_t node) {
  return profile.frames[profile.nodes[node].frame].function.empty();
}

// Whether the node's frame has no name and lies in the module of the wrapper that calls it.
bool is_part_of(const Profile& profile, uint32_t node, uint32_t wrapper) {
  const Frame& frame = profile.frames[profile.nodes[node].frame];
  return frame.function.empty() && frame.module != kNoModule &&
         frame.module == profile.frames[profile.nodes[wrapper].frame].module;
}

// Whether a caller can get a wrapper's sites: it has a name, and it is not "[small sites]".
bool is_known_caller(const Profile& profile, uint32_t node) {
  const Frame& frame = profile.frames[profile.nodes[node].frame];
  return !frame.function.empty() && !(frame.svma == 0 && frame.function == kSmallSitesText);
}

uint64_t site_metric(const Site& site, Metric metric) {
  if (metric == Metric::kLeaked && site.suppressed_by > 0) return 0;
  return site.numbers.*metric_field_of(metric).number;
}

}  // namespace

void PlaceNumbers::add(const Site& from) {
  if (from.suppressed_by == 0) return add_numbers(this, from.numbers);
  SizedNumbers others = from.numbers;
  suppressed_bytes = add_saturating(suppressed_bytes, others.leaked_bytes);
  suppressed_blocks = add_saturating(suppressed_blocks, others.leaked_blocks);
  others.leaked_bytes = 0;
  others.leaked_blocks = 0;
  for (const SiteField& field : kSiteFields) {
    if (field.needs == SiteField::Needs::kJudgement) others.*field.number = 0;
  }
  add_numbers(this, others);
}

void PlaceNumbers::add(const PlaceNumbers& other) {
  add_numbers(this, other);
  suppressed_bytes = add_saturating(suppressed_bytes, other.suppressed_bytes);
  suppressed_blocks = add_saturating(suppressed_blocks, other.suppressed_blocks);
}

PlaceTree build_place_tree(const Profile& profile) {
  const size_t count = profile.frames.size();
  PlaceTree tree;
  tree.kinds.reserve(count);
  tree.labels.reserve(count);
  tree.functions.reserve(count);
  Numbers<std::string_view> texts(2 * count);  // functions and files
  Numbers<LabelKey> labels(count);
  Numbers<LabelKey> functions(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Frame& frame = profile.frames[i];
    if (profile.shows_libraries && frame.svma == 0 && frame.function == kSmallSitesText) tree.left_out = i;
    const bool is_users = fold_of(profile, i) == FrameFold::kUndone ||
                          (i < profile.code_owners.size() && profile.code_owners[i] == CodeOwner::kUser);
    tree.kinds.push_back(is_users ? FrameKind::kUser : frame_kind(profile, frame));
    const uint64_t module = frame.file.empty() ? frame.module : kNoModule;
    LabelKey key = {uint64_t{texts.of(frame.function)} << 32 | texts.of(frame.file),
                    uint64_t{frame.line} << 32 | module, frame.function.empty() ? frame.svma : 0};
    tree.labels.push_back(labels.of(key));
    key.line_and_module = module;
    tree.functions.push_back(functions.of(key));
  }
  tree.labels_count = labels.count();
  tree.owners = find_code_owners(profile);
  place_nodes(profile, &tree);
  return tree;
}

namespace {

// Whether a frame is a user frame in a program whose stacks may go through scripts of other languages.
class ScriptPlaces {
 public:
  ScriptPlaces(const Profile& profile, const PlaceTree& tree)
      : roles_(frame_roles(profile)),
        owners_(tree.owners),
        hides_libraries_(!profile.shows_libraries),
        has_script_(profile.nodes.size()),
        has_own_(profile.nodes.size()) {}

  bool is_users(const Profile& profile, uint32_t node, FrameKind kind) {
    const uint32_t parent = profile.nodes[node].parent;
    const FrameRole role = roles_[profile.nodes[node].frame];
    const CodeOwner owner = owners_[profile.nodes[node].frame];
    const bool is_library = hides_libraries_ && owner == CodeOwner::kLibrary;
    // An interpreter's function that a script called, or a library function that a program's function called.
    const bool is_between = (has_script_[parent] && role != FrameRole::kOther && role != FrameRole::kScript) ||
                            (has_own_[parent] && is_library);
    hid_any_ = hid_any_ || (is_between && is_library && kind == FrameKind::kUser);
    has_script_[node] = has_script_[parent] || role == FrameRole::kScript;
    const bool is_own_role = role == FrameRole::kOther || role == FrameRole::kScript;
    has_own_[node] = has_own_[parent] || (kind == FrameKind::kUser && is_own_role && owner == CodeOwner::kUser);
    return kind == FrameKind::kUser && !is_between;
  }
  uint32_t instead(uint32_t) const { return 0; }
  bool hid_libraries() const { return hid_any_; }

 private:
  std::vector<FrameRole> roles_;
  const std::vector<CodeOwner>& owners_;
  bool hides_libraries_;
  bool hid_any_ = false;
  std::vector<bool> has_script_;
  std::vector<bool> has_own_;  // by node: it is a user frame, or lies inside one
};

template <typename Rules>
void place_nodes_by(Rules rules, const Profile& profile, PlaceTree* tree) {
  const size_t count = profile.nodes.size();
  // For a stack without a user frame: the innermost frame that does not belong to the allocator.
  std::vector<uint32_t> named_node(count);
  std::vector<bool> is_wrapper(count);  // by node: folded, or part of a folded one
  for (uint32_t node = 1; node < count; ++node) {
    const uint32_t parent = profile.nodes[node].parent;
    const uint32_t frame = profile.nodes[node].frame;
    const FrameKind kind = tree->kinds[frame];
    const bool is_user = rules.is_users(profile, node, kind);
    is_wrapper[node] = is_folded(fold_of(profile, frame)) || (is_wrapper[parent] && is_part_of(profile, node, parent));
    tree->user_node[node] = is_user ? node : tree->user_node[parent];
    named_node[node] = kind != FrameKind::kAllocator ? node : named_node[parent];
    if (is_user) {
      const uint32_t caller = tree->user_node[parent];
      const bool is_handed_on = is_wrapper[node] && caller != 0 &&
                                (is_wrapper[caller] || is_known_caller(profile, caller) || is_unnamed(profile, node));
      tree->place_node[node] = is_handed_on ? tree->place_node[caller] : node;
      continue;
    }
    const uint32_t instead = rules.instead(node);
    tree->place_node[node] = tree->user_node[node] != 0 ? tree->place_node[tree->user_node[node]]
                             : instead != 0             ? instead
                             : named_node[node] != 0    ? named_node[node]
                                                        : node;
  }
  tree->hides_libraries = rules.hid_libraries();
}

}  // namespace

void place_nodes(const Profile& profile, PlaceTree* tree) {
  tree->user_node.assign(profile.nodes.size(), 0);
  tree->place_node.assign(profile.nodes.size(), 0);
  has_python(profile) ? place_nodes_by(PythonPlaces(profile), profile, tree)
                      : place_nodes_by(ScriptPlaces(profile, *tree), profile, tree);
}

const Frame* find_unnamed_frame(const Profile& profile, const PlaceTree& tree, uint32_t node) {
  const uint32_t place = tree.place_node[node];
  if (place == 0) return nullptr;
  if (is_unnamed(profile, place)) return &profile.frames[profile.nodes[place].frame];
  const uint32_t caller = tree.user_node[profile.nodes[place].parent];
  if (!is_folded(fold_of(profile, profile.nodes[place].frame)) || caller == 0 || !is_unnamed(profile, caller))
    return nullptr;
  return &profile.frames[profile.nodes[caller].frame];
}

std::vector<Place> find_places(const Profile& profile, const PlaceTree& tree, const Device& device) {
  constexpr uint32_t kNone = 0xffffffff;
  std::vector<Place> places;
  std::vector<uint32_t> place_of_label(tree.labels_count + 1, kNone);  // the last element: sites without a stack
  uint32_t reserve_place = kNone;
  for (uint32_t site = 0; site < device.sites.size(); ++site) {
    const uint32_t node = tree.place_node[device.sites[site].node];
    const uint32_t frame = profile.nodes[node].frame;
    const uint32_t reserve = find_reserve_frame(profile, device.sites[site]);
    if (reserve != kNoModule) {
      if (reserve_place == kNone) {
        reserve_place = static_cast<uint32_t>(places.size());
        places.push_back({reserve, true, {}, {}, true});
      }
      places[reserve_place].numbers.add(device.sites[site]);
      places[reserve_place].sites.push_back(site);
      continue;
    }
    uint32_t& place = place_of_label[node == 0 ? tree.labels_count : tree.labels[frame]];
    if (place == kNone) {
      place = static_cast<uint32_t>(places.size());
      places.push_back({frame, node != 0, {}, {}, false});
    }
    places[place].numbers.add(device.sites[site]);
    places[place].sites.push_back(site);
  }
  return places;
}

PlaceNumbers sum_of_sites(const Device& device) {
  PlaceNumbers sum;
  for (const Site& site : device.sites) sum.add(site);
  return sum;
}

std::vector<uint32_t> rank_all_places(const std::vector<Place>& places, Metric metric) {
  std::vector<uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0u);
  // Ties: by total bytes, then in the order of the profile, which is deterministic.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const PlaceNumbers& left = places[a].numbers;
    const PlaceNumbers& right = places[b].numbers;
    return std::make_pair(left.metric(metric), left.total_bytes) >
           std::make_pair(right.metric(metric), right.total_bytes);
  });
  return order;
}

std::vector<uint32_t> rank_places(const std::vector<Place>& places, Metric metric) {
  std::vector<uint32_t> order = rank_all_places(places, metric);
  const auto first_without = std::find_if(order.begin(), order.end(),
                                          [&](uint32_t place) { return places[place].numbers.metric(metric) == 0; });
  order.erase(first_without, order.end());
  return order;
}

std::vector<uint32_t> rank_own_places(const std::vector<Place>& places, Metric metric) {
  std::vector<uint32_t> order = rank_places(places, metric);
  std::erase_if(order, [&](uint32_t place) { return places[place].is_reserve; });
  return order;
}

uint64_t reserve_of(const std::vector<Place>& places, Metric metric) {
  uint64_t sum = 0;
  for (const Place& place : places) sum = add_saturating(sum, place.is_reserve ? place.numbers.metric(metric) : 0);
  return sum;
}

CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device, const Place& place,
                         Metric metric) {
  std::vector<WeightedSite> sites;
  for (const uint32_t site : place.sites) sites.push_back({site, site_metric(device.sites[site], metric)});
  return find_callers(profile, tree, device, sites);
}

CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device,
                         const std::vector<WeightedSite>& sites) {
  std::vector<WeightedNode> nodes;
  for (const WeightedSite& site : sites) {
    if (site.weight != 0) nodes.push_back({tree.place_node[device.sites[site.site].node], site.weight});
  }
  return find_callers(profile, tree, std::move(nodes));
}

uint32_t next_outer_function(const Profile& profile, const PlaceTree& tree, uint32_t node) {
  const auto function = [&](uint32_t at) { return tree.functions[profile.nodes[at].frame]; };
  uint32_t outer = node;
  do {
    const uint32_t next = tree.user_node[profile.nodes[outer].parent];
    while (tree.left_out != PlaceTree::kNoFrame && outer != next) {
      outer = profile.nodes[outer].parent;
      if (profile.nodes[outer].frame == tree.left_out && outer != 0) return 0;
    }
    outer = next;
  } while (outer != 0 && function(outer) == function(node));
  return outer;
}

CallerChain find_callers(const Profile& profile, const PlaceTree& tree, std::vector<WeightedNode> paths) {
  struct Caller {
    CallerShare share;
    uint64_t heaviest = 0;  // weight of the heaviest path, whose frame is shown
  };
  CallerChain chain;
  for (const WeightedNode& path : paths) chain.weight = add_saturating(chain.weight, path.weight);
  const auto function = [&](uint32_t node) { return tree.functions[profile.nodes[node].frame]; };
  constexpr size_t kLongestChain = 64;  // a line shows far fewer
  while (chain.frames.size() < kLongestChain) {
    std::map<uint32_t, Caller> callers;  // by function
    bool some_end = false;
    for (WeightedNode& path : paths) {
      if (path.node != 0) path.node = next_outer_function(profile, tree, path.node);
      if (path.node == 0) {
        some_end = true;
        continue;
      }
      Caller& caller = callers[function(path.node)];
      caller.share.weight = add_saturating(caller.share.weight, path.weight);
      if (path.weight <= caller.heaviest) continue;
      caller.heaviest = path.weight;
      caller.share.frame = profile.nodes[path.node].frame;
    }
    if (callers.empty()) return chain;
    if (callers.size() == 1 && !some_end) {
      chain.frames.push_back(callers.begin()->second.share.frame);
      continue;
    }
    for (const auto& [number, caller] : callers) chain.shares.push_back(caller.share);
    std::stable_sort(chain.shares.begin(), chain.shares.end(),
                     [](const CallerShare& a, const CallerShare& b) { return a.weight > b.weight; });
    return chain;
  }
  return chain;
}

std::vector<uint32_t> largest_stack(const Profile& profile, const Device& device, const Place& place, Metric metric) {
  std::vector<uint32_t> frames;
  if (place.sites.empty()) return frames;
  const uint32_t largest = *std::max_element(place.sites.begin(), place.sites.end(), [&](uint32_t a, uint32_t b) {
    return site_metric(device.sites[a], metric) < site_metric(device.sites[b], metric);
  });
  for (uint32_t node = device.sites[largest].node; node != 0; node = profile.nodes[node].parent)
    frames.push_back(profile.nodes[node].frame);
  return frames;
}

uint64_t count_hidden_frames(const PlaceTree& tree) {
  return static_cast<uint64_t>(std::count_if(tree.kinds.begin(), tree.kinds.end(), [](FrameKind kind) {
    return kind == FrameKind::kAllocator || kind == FrameKind::kStandard || kind == FrameKind::kRuntime;
  }));
}

}  // namespace heapprof::cli
