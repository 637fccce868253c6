// cli/model/analysis/folding.cc: applies names and rules first, then looks for functions that behave like wrappers, and
// repeats that while it finds some. It repeats because a wrapper may call another, and because only one of two builds
// may have used a wrapper enough to show it.
#include "cli/model/analysis/folding.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/python/marks.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/wrapper_shape.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kMostRounds = 8;

// Sets the owners of frames, and what a frame's name, or a rule, says about it. Returns, for each frame, what still has
// to be examined.
std::vector<WrapperFame> mark_by_name(const FoldRules& rules, Profile* profile) {
  profile->shows_libraries = rules.libraries || (rules.all_frames && !has_python(*profile));
  if (!rules.libraries) mark_python(profile);
  const bool has_patterns = !rules.patterns.empty() && !rules.all_frames;
  const std::optional<FrameMatcher> matcher =
      has_patterns || !rules.code.empty() ? std::optional<FrameMatcher>(std::in_place, *profile) : std::nullopt;
  profile->code_owners.assign(rules.code.empty() ? 0 : profile->frames.size(), CodeOwner::kUnsaid);
  for (uint32_t frame = 0; frame < profile->code_owners.size(); ++frame) {
    const auto rule = std::find_if(rules.code.begin(), rules.code.end(),
                                   [&](const CodeRule& one) { return matcher->fits(one.pattern, frame); });
    if (rule != rules.code.end()) profile->code_owners[frame] = rule->owner;
  }
  profile->folds.assign(profile->frames.size(), FrameFold::kNot);
  std::vector<WrapperFame> doubtful(profile->frames.size(), WrapperFame::kNone);
  for (uint32_t frame = 0; frame < profile->frames.size(); ++frame) {
    FrameFold& fold = profile->folds[frame];
    const bool is_asked =
        has_patterns && std::any_of(rules.patterns.begin(), rules.patterns.end(),
                                    [&](const FramePattern& pattern) { return matcher->fits(pattern, frame); });
    if (is_asked) {
      fold = FrameFold::kAsked;
      continue;
    }
    if (profile->frames[frame].function.empty() || is_of_python(*profile, profile->frames[frame])) continue;
    const WrapperFame fame = wrapper_fame(plain_function(profile->frames[frame].function));
    if (fame == WrapperFame::kNone) continue;
    if (rules.all_frames) {
      fold = FrameFold::kUndone;
    } else if (fame == WrapperFame::kKnown) {
      fold = FrameFold::kKnown;
    } else {
      doubtful[frame] = fame;
    }
  }
  return doubtful;
}

// Identifies a function of one profile in another: the whole name, and the file's name without folders, which differ
// between machines.
using FunctionKey = std::pair<std::string_view, std::string_view>;
FunctionKey key_of(const Frame& frame) { return {frame.function, base_name_view(frame.file)}; }

struct Marked {
  Profile* profile = nullptr;
  std::vector<WrapperFame> doubtful;  // by frame
  PlaceTree tree;
  std::vector<uint32_t> functions;  // by function: one of its frames
};

class Recognition {
 public:
  explicit Recognition(std::vector<Marked> profiles) : profiles_(std::move(profiles)) {
    for (Marked& marked : profiles_) {
      marked.tree = build_place_tree(*marked.profile);
      const std::vector<uint32_t>& functions = marked.tree.functions;
      for (uint32_t frame = 0; frame < functions.size(); ++frame) {
        if (functions[frame] == marked.functions.size()) marked.functions.push_back(frame);
      }
    }
  }

  void mark_all() {
    for (int round = 0; round < kMostRounds && mark_more(); ++round) {
    }
  }

  // The first profile's tree, with its current marks.
  PlaceTree take_tree() { return std::move(profiles_[0].tree); }

 private:
  // Returns whether it found a new wrapper.
  bool mark_more() {
    std::map<FunctionKey, FrameFold> found;
    std::vector<OwnBlocks> blocks;
    for (const Marked& marked : profiles_) blocks.emplace_back(*marked.profile, marked.tree);
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (const uint32_t function : blocks[i].find_wrappers())
        found.emplace(key_of_function(profiles_[i], function), FrameFold::kRecognised);
      look_at_doubtful(profiles_[i], blocks[i], &found);
    }
    if (!found.empty()) refuse_contradicted(found, &blocks);
    std::erase_if(found, [this](const auto& it) { return refused_.contains(it.first); });
    bool has_more = false;
    for (Marked& marked : profiles_) {
      if (!found.empty() && mark(found, marked.profile)) {
        has_more = true;
        place_nodes(*marked.profile, &marked.tree);
      }
    }
    return has_more;
  }

  static FunctionKey key_of_function(const Marked& marked, uint32_t function) {
    return key_of(marked.profile->frames[marked.functions[function]]);
  }

  void look_at_doubtful(const Marked& marked, const OwnBlocks& blocks, std::map<FunctionKey, FrameFold>* found) {
    for (uint32_t function = 0; function < marked.functions.size(); ++function) {
      const uint32_t frame = marked.functions[function];
      const WrapperFame fame = marked.doubtful[frame];
      if (fame == WrapperFame::kNone || marked.profile->folds[frame] != FrameFold::kNot || !blocks.has(function))
        continue;
      if (blocks.cuts_pieces(function, fame == WrapperFame::kMakesObjects)) {
        refused_.insert(key_of(marked.profile->frames[frame]));
      } else {
        (*found)[key_of(marked.profile->frames[frame])] = FrameFold::kKnown;
      }
    }
  }

  void refuse_contradicted(const std::map<FunctionKey, FrameFold>& found, std::vector<OwnBlocks>* blocks) {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (uint32_t function = 0; function < profiles_[i].functions.size(); ++function) {
        const auto it = found.find(key_of_function(profiles_[i], function));
        if (it != found.end() && it->second == FrameFold::kRecognised && (*blocks)[i].contradicts(function))
          refused_.insert(it->first);
      }
    }
  }

  static bool mark(const std::map<FunctionKey, FrameFold>& found, Profile* profile) {
    bool has_more = false;
    for (uint32_t frame = 0; frame < profile->frames.size(); ++frame) {
      if (profile->folds[frame] != FrameFold::kNot) continue;
      const auto it = found.find(key_of(profile->frames[frame]));
      if (it == found.end()) continue;
      profile->folds[frame] = it->second;
      has_more = true;
    }
    return has_more;
  }

  std::vector<Marked> profiles_;
  std::set<FunctionKey> refused_;  // functions that a profile shows not to be wrappers
};

}  // namespace

void mark_folded(const FoldRules& rules, Profile* profile) {
  mark_folded(rules, std::span<Profile* const>(&profile, 1));
}

void mark_folded(const FoldRules& rules, std::span<Profile* const> profiles) {
  std::vector<Marked> marked;
  for (Profile* profile : profiles) marked.push_back({profile, mark_by_name(rules, profile), {}, {}});
  if (rules.all_frames) return;
  Recognition(std::move(marked)).mark_all();
}

void mark_folded(const FoldRules& rules, Profile* profile, PlaceTree* tree) {
  std::vector<Marked> marked;
  marked.push_back({profile, mark_by_name(rules, profile), {}, {}});
  Recognition recognition(std::move(marked));
  if (!rules.all_frames) recognition.mark_all();
  *tree = recognition.take_tree();
}

namespace {

// A glob is matched against files and against modules. It counts as used if it matched at least one file or module.
std::vector<std::string> find_unused_code(const FoldRules& rules, std::span<const Profile* const> profiles) {
  std::map<std::string, bool> is_used;
  for (const Profile* profile : profiles) {
    if (rules.code.empty()) break;
    const FrameMatcher matcher(*profile);
    for (const CodeRule& rule : rules.code) {
      bool& used = is_used[rule.pattern.file.empty() ? rule.pattern.module : rule.pattern.file];
      for (uint32_t frame = 0; !used && frame < profile->frames.size(); ++frame)
        used = matcher.fits(rule.pattern, frame);
    }
  }
  std::vector<std::string> unused;
  for (const auto& [glob, used] : is_used) {
    if (!used) unused.push_back(glob);
  }
  return unused;
}

}  // namespace

std::vector<Problem> find_unused_folds(const FoldRules& rules, std::span<const Profile* const> profiles,
                                       bool with_files) {
  std::vector<Problem> unused;
  const size_t count = with_files ? rules.patterns.size() : std::min(rules.from_flags, rules.patterns.size());
  std::vector<FrameMatcher> matchers;
  for (const Profile* profile : profiles) {
    if (count > 0) matchers.emplace_back(*profile);
  }
  for (const FramePattern& rule : std::span(rules.patterns).first(count)) {
    bool is_used = false;
    for (size_t i = 0; i < profiles.size(); ++i) {
      for (uint32_t frame = 0; !is_used && frame < profiles[i]->frames.size(); ++frame)
        is_used = matchers[i].fits(rule, frame);
    }
    if (is_used) continue;
    std::string text;
    const auto add = [&text](std::string_view kind, std::string_view glob) {
      if (!glob.empty()) text.append(text.empty() ? "" : " ").append(kind).append(glob);
    };
    add("function:", rule.function);
    add("module:", rule.module);
    add("file:", rule.file);
    unused.push_back(fold_unused(escape_controls(text)));
  }
  for (const std::string& glob : find_unused_code(rules, profiles))
    unused.push_back(code_unused(escape_controls(glob)));
  return unused;
}

std::vector<FoldedFunction> find_folded(const Profile& profile, const PlaceTree& tree,
                                        std::span<const Device* const> devices) {
  // By node: the outermost folded node between the place and the allocator.
  std::vector<uint32_t> folded(profile.nodes.size());
  for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
    const uint32_t parent = profile.nodes[node].parent;
    const uint32_t frame = profile.nodes[node].frame;
    if (tree.place_node[node] == node) continue;                         // further out than the place: does not count
    if (tree.hides_libraries && tree.user_node[node] != node) continue;  // it could not be a place anyway
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

namespace {

// The names of these functions that unfolded user functions have as well.
std::unordered_set<std::string> find_names_of_others(const Profile& profile, const PlaceTree& tree,
                                                     const std::vector<FoldedFunction>& functions) {
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> others;
  for (const FoldedFunction& function : functions) {
    // A function that is folded by name is folded everywhere.
    if (function.fold != FrameFold::kKnown) names.insert(frame_name(profile, profile.frames[function.frame]));
  }
  for (uint32_t frame = 0; !names.empty() && frame < profile.frames.size(); ++frame) {
    if (profile.folds[frame] != FrameFold::kNot || tree.kinds[frame] != FrameKind::kUser) continue;
    std::string name = frame_name(profile, profile.frames[frame]);
    if (names.contains(name)) others.insert(std::move(name));
  }
  return others;
}

// The folded functions that are still the place of some of the devices' blocks.
std::unordered_set<uint32_t> find_kept(const Profile& profile, const PlaceTree& tree,
                                       std::span<const Device* const> devices) {
  std::unordered_set<uint32_t> kept;
  for (const Device* device : devices) {
    for (const Site& site : device->sites) {
      const uint32_t frame = profile.nodes[tree.place_node[site.node]].frame;
      if (tree.place_node[site.node] != 0 && frame < profile.folds.size() && profile.folds[frame] != FrameFold::kNot)
        kept.insert(tree.functions[frame]);
    }
  }
  return kept;
}

}  // namespace

std::vector<std::string> find_folded_names(const Profile& profile, const PlaceTree& tree,
                                           std::span<const Device* const> devices) {
  const std::vector<FoldedFunction> functions = find_folded(profile, tree, devices);
  const std::unordered_set<std::string> others = find_names_of_others(profile, tree, functions);
  const std::unordered_set<uint32_t> kept = find_kept(profile, tree, devices);
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const FoldedFunction& function : functions) {
    const Frame& frame = profile.frames[function.frame];
    std::string name = frame_name(profile, frame);
    std::string remark;
    const auto add = [&remark](std::string_view more) { remark.append(remark.empty() ? "" : ", ").append(more); };
    if (others.contains(name) && !frame.file.empty()) add(base_name_view(frame.file));
    if (function.fold == FrameFold::kRecognised) add("recognised");
    if (kept.contains(tree.functions[function.frame])) add("named callers");
    if (!remark.empty()) name += " (" + remark + ")";
    if (known.insert(name).second) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> find_folded_names(const Profile& profile) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) devices.push_back(&device);
  return find_folded_names(profile, build_place_tree(profile), devices);
}

}  // namespace heapprof::cli
