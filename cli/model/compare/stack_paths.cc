// cli/model/compare/stack_paths.cc: parents have smaller numbers, so one pass over each profile puts its stacks into
// the common tree.
#include "cli/model/compare/stack_paths.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/recursion_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heapprof::cli {
namespace {

// rustc's older names end in a hash of the crate, which differs from build to build: "app::fill::h0123456789abcdef".
std::string_view without_rust_hash(std::string_view name) {
  constexpr size_t kHashBytes = 16;
  if (name.size() <= kHashBytes + 3) return name;
  const std::string_view hash = name.substr(name.size() - kHashBytes);
  const bool is_hash = name.substr(name.size() - kHashBytes - 3, 3) == "::h" &&
                       hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hash ? name.substr(0, name.size() - kHashBytes - 3) : name;
}

// A module's name for the comparison; empty for the program itself, so that "render", "render-v2" and "build-2/render"
// are the same. If a sum of several programs has no program of its own, the other profile's program counts.
std::string_view module_word(const Profile& profile, const Profile& other, uint32_t module) {
  if (module >= profile.modules.size()) return "?";
  const std::string_view name = base_name_view(profile.modules[module].path);
  const std::string& program = profile.run.executable.empty() ? other.run.executable : profile.run.executable;
  if (!program.empty() && name == base_name_view(program)) return "";
  const size_t version = name.find(".so.");
  return version == std::string_view::npos ? name : name.substr(0, version + 3);
}

std::string_view build_id(const Profile& profile, const Frame& frame) {
  return frame.module < profile.modules.size() ? std::string_view(profile.modules[frame.module].build_id) : "";
}

// The function names of one profile by build id and address, for frames of the other profile that have no name.
class KnownNames {
 public:
  explicit KnownNames(const Profile& profile) {
    for (const ProfileModule& module : profile.modules) build_ids_.insert(module.build_id);
    for (const Frame& frame : profile.frames) {
      // An inlined function is left out: a symbol table names only the function that contains the address.
      if (!frame.function.empty() && !frame.inlined) names_[build_id(profile, frame)].try_emplace(frame.svma, &frame);
    }
  }
  bool has_module(std::string_view id) const { return !id.empty() && build_ids_.contains(id); }
  const std::string* find(std::string_view id, uint64_t svma) const {
    const auto module = names_.find(id);
    if (id.empty() || module == names_.end()) return nullptr;
    const auto frame = module->second.find(svma);
    return frame == module->second.end() ? nullptr : &frame->second->function;
  }

 private:
  std::unordered_set<std::string_view> build_ids_;
  std::unordered_map<std::string_view, std::unordered_map<uint64_t, const Frame*>> names_;
};

// name: the function's name in this profile or, if the address has none here, in the other one.
std::string name_of(const Profile& profile, const Frame& frame, const std::string& name) {
  if (&name == &frame.function)
    return without_recursion_frames(std::string(without_rust_hash(frame_name(profile, frame))));
  return std::string(without_rust_hash(plain_function(name)));
}

// Compilers number the lambdas, closures and nameless types of a function or a file, so inserting one renumbers the
// following ones: "start::{lambda#2}" (gcc), "start::$_1" (clang), "load::{closure#0}" (rustc), "lambda$load$1"
// (javac). Returns the name without such numbers; empty if it has no number.
std::string without_numbers(std::string_view name) {
  std::string text;
  bool has_number = false;
  bool is_in_braces = false;
  const auto digits_at = [name](size_t i) {
    const size_t end = name.find_first_not_of("0123456789", i);
    return (end == std::string_view::npos ? name.size() : end) - i;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    text += name[i];
    is_in_braces = name[i] == '{' || name[i] == '\'' || (is_in_braces && name[i] != '}');
    size_t skipped = 0;
    if (name[i] == '#' && is_in_braces) skipped = digits_at(i + 1);
    if (rest.starts_with("$_")) skipped = digits_at(i + 2) == 0 ? 0 : 1 + digits_at(i + 2);
    if (rest.starts_with("$") && name.find("lambda$") < i && i + 1 + digits_at(i + 1) == name.size())
      skipped = digits_at(i + 1);
    i += skipped;
    has_number = has_number || skipped != 0;
  }
  return has_number ? text : std::string();
}

// One profile's names that contain numbers, by the name without the numbers.
using NumberedNames = std::unordered_map<std::string, std::set<std::string>>;

bool is_small_sites_frame(const Frame& frame) { return frame.svma == 0 && frame.function == kSmallSitesText; }

}  // namespace

StackPaths::StackPaths(BySide<const Profile*> profiles, BySide<const PlaceTree*> trees)
    : profiles_(profiles), trees_(trees), lengths_(1) {
  number_functions();
  for (const Side side : kSides) find_paths(side);
}

void StackPaths::number_functions() {
  const bool has_modules = std::all_of(profiles_.begin(), profiles_.end(),
                                       [](const Profile* p) { return p->dialect == Dialect::kHeapprof; });
  const BySide<KnownNames> names = {KnownNames(*profiles_[kBase]), KnownNames(*profiles_[kCurrent])};
  BySide<NumberedNames> numbered;
  for (const Side side : kSides) {
    for (const Frame& frame : profiles_[side]->frames) {
      std::string name = name_of(*profiles_[side], frame, frame.function);
      std::string common = without_numbers(name);
      if (!common.empty()) numbered[side][std::move(common)].insert(std::move(name));
    }
  }
  const auto in_both = [&numbered](std::string name) {
    std::string common = without_numbers(name);
    if (common.empty()) return name;
    const auto base = numbered[kBase].find(common);
    const auto current = numbered[kCurrent].find(common);
    const bool is_alike =
        base != numbered[kBase].end() && current != numbered[kCurrent].end() && base->second == current->second;
    return is_alike ? name : common;
  };
  std::unordered_map<std::string, uint32_t> numbers;
  for (const Side side : kSides) {
    const Profile& profile = *profiles_[side];
    const Profile& other = *profiles_[other_side(side)];
    const KnownNames& others = names[other_side(side)];
    functions_[side].reserve(profile.frames.size());
    for (const Frame& frame : profile.frames) {
      const std::string_view id = build_id(profile, frame);
      const std::string* name = frame.function.empty() ? others.find(id, frame.svma) : &frame.function;
      const bool is_by_address = name == nullptr && others.has_module(id);
      std::string key = name == nullptr ? "" : in_both(name_of(profile, frame, *name));
      if (has_modules || name == nullptr) key += fmt::format("\n{}", module_word(profile, other, frame.module));
      if (is_by_address) key += fmt::format("\n{:x}", frame.svma);
      const auto [entry, is_new] = numbers.try_emplace(std::move(key), static_cast<uint32_t>(numbers.size()));
      if (is_new) by_module_.push_back(name == nullptr && !is_by_address);
      functions_[side].push_back(entry->second);
    }
  }
  for (const Side side : kSides) {
    known_[side].resize(numbers.size());
    for (const uint32_t function : functions_[side]) known_[side][function] = 1;
  }
}

uint32_t StackPaths::extend(uint32_t path, uint32_t function) {
  if (path != 0 && paths_[path].frame == function) return path;
  const uint32_t extended = table_.intern(path, function);
  if (extended == lengths_.size()) lengths_.push_back(lengths_[path] + 1);
  return extended;
}

void StackPaths::find_paths(Side side) {
  const Profile& profile = *profiles_[side];
  std::vector<uint32_t>& path_of = path_of_[side];
  path_of.resize(std::max<size_t>(profile.nodes.size(), 1));
  for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
    const FrameNode& it = profile.nodes[node];
    const bool is_users = trees_[side]->user_node[node] == node && !is_small_sites_frame(profile.frames[it.frame]);
    path_of[node] = is_users ? extend(path_of[it.parent], functions_[side][it.frame]) : path_of[it.parent];
  }
}

uint32_t StackPaths::path_of(Side side, const Site& site) {
  const uint32_t place = trees_[side]->place_node[site.node];
  if (site.node == 0 || path_of_[side][place] != 0) return path_of_[side][place];
  return extend(0, functions_[side][profiles_[side]->nodes[place].frame]);
}

bool StackPaths::is_subsequence(uint32_t shorter, uint32_t longer) const {
  for (; shorter != 0 && longer != 0; longer = paths_[longer].parent) {
    if (paths_[shorter].frame == paths_[longer].frame) shorter = paths_[shorter].parent;
  }
  return shorter == 0;
}

StackPaths::FunctionSet StackPaths::functions_of(uint32_t path) const {
  FunctionSet set{};
  for (; path != 0; path = paths_[path].parent) {
    const uint64_t hash = paths_[path].frame * 0x9E3779B97F4A7C15ull >> 56;
    set[hash / 64] |= uint64_t{1} << hash % 64;
  }
  return set;
}

uint32_t StackPaths::find_frame(Side side, uint32_t node, uint32_t function) const {
  for (uint32_t at = node; at != 0; at = profiles_[side]->nodes[at].parent) {
    const uint32_t frame = profiles_[side]->nodes[at].frame;
    if (functions_[side][frame] == function) return frame;
  }
  return kNoFrame;
}

uint32_t StackPaths::project(uint32_t path, Side side) {
  constexpr uint32_t kUnset = 0xffffffff;
  std::vector<uint32_t>& known = projections_[side];
  if (known.size() < paths_.size()) known.resize(paths_.size(), kUnset);
  known[0] = 0;
  chain_.clear();
  uint32_t at = path;
  for (; known[at] == kUnset; at = paths_[at].parent) chain_.push_back(at);
  uint32_t projected = known[at];
  for (auto longer = chain_.rbegin(); longer != chain_.rend(); ++longer) {
    const FrameNode it = paths_[*longer];
    if (is_known(side, it.frame)) projected = projected == it.parent ? *longer : extend(projected, it.frame);
    known[*longer] = projected;
  }
  return projected;
}

}  // namespace heapprof::cli
