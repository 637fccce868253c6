// cli/model/analysis/folding.cc: names and rules first. Then, as often as it finds some, what looks like a wrapper:
// below a wrapper may be another, and of two programs' builds only one may have used it enough to show.
#include "cli/model/analysis/folding.h"

#include "cli/base/function_name.h"
#include "cli/model/analysis/wrapper_shape.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace heapprof::cli {
namespace {

constexpr int kMostRounds = 8;

// What the frame's name, or a rule, says of it.
void mark_by_name(const FoldRules& rules, Profile* profile) {
  const bool has_patterns = !rules.patterns.empty() && !rules.all_frames;
  const std::optional<FrameMatcher> matcher =
      has_patterns ? std::optional<FrameMatcher>(std::in_place, *profile) : std::nullopt;
  profile->folds.assign(profile->frames.size(), FrameFold::kNot);
  for (uint32_t frame = 0; frame < profile->frames.size(); ++frame) {
    FrameFold& fold = profile->folds[frame];
    const bool is_asked =
        matcher && std::any_of(rules.patterns.begin(), rules.patterns.end(),
                               [&](const FramePattern& pattern) { return matcher->fits(pattern, frame); });
    if (is_asked) {
      fold = FrameFold::kAsked;
    } else if (!profile->frames[frame].function.empty() &&
               is_known_wrapper(plain_function(profile->frames[frame].function))) {
      fold = rules.all_frames ? FrameFold::kUndone : FrameFold::kKnown;
    }
  }
}

class Recognition {
 public:
  explicit Recognition(std::span<Profile* const> profiles) : profiles_(profiles) {
    for (const Profile* profile : profiles) trees_.push_back(build_place_tree(*profile));
  }

  // Whether there was any that was not folded yet.
  bool mark_more() {
    std::unordered_set<std::string> names;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      const std::vector<uint32_t> wrappers = find_wrappers(*profiles_[i], trees_[i]);
      const std::unordered_set<uint32_t> found(wrappers.begin(), wrappers.end());
      if (found.empty()) continue;
      mark(i, [&](uint32_t frame) { return found.contains(trees_[i].functions[frame]); });
      for (const uint32_t function : found) names.insert(name_of(i, function));
    }
    if (names.empty()) return false;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      if (profiles_.size() > 1)
        mark(i, [&](uint32_t frame) { return names.contains(plain_function(profiles_[i]->frames[frame].function)); });
      place_nodes(*profiles_[i], &trees_[i]);
    }
    return true;
  }

 private:
  std::string name_of(size_t i, uint32_t function) const {
    const std::vector<uint32_t>& functions = trees_[i].functions;
    const auto frame = std::find(functions.begin(), functions.end(), function) - functions.begin();
    return plain_function(profiles_[i]->frames[static_cast<size_t>(frame)].function);
  }

  template <typename IsWrapper>
  void mark(size_t i, const IsWrapper& is_wrapper) {
    std::vector<FrameFold>& folds = profiles_[i]->folds;
    for (uint32_t frame = 0; frame < folds.size(); ++frame) {
      if (folds[frame] == FrameFold::kNot && is_wrapper(frame)) folds[frame] = FrameFold::kRecognised;
    }
  }

  std::span<Profile* const> profiles_;
  std::vector<PlaceTree> trees_;
};

}  // namespace

void mark_folded(const FoldRules& rules, Profile* profile) {
  mark_folded(rules, std::span<Profile* const>(&profile, 1));
}

void mark_folded(const FoldRules& rules, std::span<Profile* const> profiles) {
  for (Profile* profile : profiles) mark_by_name(rules, profile);
  if (rules.all_frames) return;
  Recognition recognition(profiles);
  for (int round = 0; round < kMostRounds && recognition.mark_more(); ++round) {
  }
}

std::vector<FoldedFunction> find_folded(const Profile& profile, const PlaceTree& tree,
                                        std::span<const Device* const> devices) {
  // By node: the outermost folded one between the place and the allocator.
  std::vector<uint32_t> folded(profile.nodes.size());
  for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
    const uint32_t parent = profile.nodes[node].parent;
    const uint32_t frame = profile.nodes[node].frame;
    if (tree.place_node[node] == node) continue;  // what is further out is not between
    const FrameFold fold = frame < profile.folds.size() ? profile.folds[frame] : FrameFold::kNot;
    const bool is_one = fold != FrameFold::kNot && fold != FrameFold::kUndone;
    folded[node] = folded[parent] != 0 ? folded[parent] : is_one ? node : 0;
  }
  std::map<uint32_t, FoldedFunction> by_function;
  for (const Device* device : devices) {
    for (const Site& site : device->sites) {
      const uint32_t node = folded[site.node];
      if (node == 0) continue;
      const uint32_t frame = profile.nodes[node].frame;
      FoldedFunction& function =
          by_function.try_emplace(tree.functions[frame], FoldedFunction{frame, profile.folds[frame], 0}).first->second;
      function.total_bytes = add_saturating(function.total_bytes, site.numbers.total_bytes);
    }
  }
  std::vector<FoldedFunction> functions;
  for (const auto& [number, function] : by_function) functions.push_back(function);
  std::stable_sort(functions.begin(), functions.end(),
                   [](const FoldedFunction& a, const FoldedFunction& b) { return a.total_bytes > b.total_bytes; });
  return functions;
}

std::vector<std::string> find_folded_names(const Profile& profile, const PlaceTree& tree,
                                           std::span<const Device* const> devices) {
  std::vector<std::string> names;
  for (const FoldedFunction& function : find_folded(profile, tree, devices)) {
    const std::string name = plain_function(profile.frames[function.frame].function) +
                             (function.fold == FrameFold::kRecognised ? " (recognised)" : "");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> find_folded_names(const Profile& profile) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) devices.push_back(&device);
  return find_folded_names(profile, build_place_tree(profile), devices);
}

}  // namespace heapprof::cli
