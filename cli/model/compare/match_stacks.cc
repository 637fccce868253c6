// cli/model/compare/match_stacks.cc: each step of matching joins groups of sites. A group that was joined into another
// is not used any more.
#include "cli/model/compare/match_stacks.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heapprof::cli {
namespace {

constexpr size_t kMostCompared = 1'000;
constexpr int kMostInlined = 4;

struct Group {
  MatchedStack stack;
  BySide<uint64_t> largest_site = {};  // total bytes of stack.node
  bool is_joined = false;              // this group was joined into another one
  bool has_taken_in = false;           // others were joined into this one
};

// A candidate's function set is compared first and excludes most candidates, because walking two paths costs a hundred
// times as much.
struct Candidate {
  StackPaths::FunctionSet functions;
  uint32_t group;
  size_t length;
};
bool has_all(const StackPaths::FunctionSet& set, const StackPaths::FunctionSet& part) {
  uint64_t missing = 0;
  for (size_t i = 0; i < set.size(); ++i) missing |= part[i] & ~set[i];
  return missing == 0;
}

bool is_within_factor_of_two(uint64_t a, uint64_t b) { return a / 2 <= b && b / 2 <= a; }

bool are_alike(const PlaceNumbers& a, const PlaceNumbers& b) {
  return is_within_factor_of_two(a.total_blocks, b.total_blocks) &&
         is_within_factor_of_two(a.total_bytes, b.total_bytes);
}

// Whether `whole` less `rest` is `part`, within a tenth of `part`.
bool is_missing_part(const PlaceNumbers& part, const PlaceNumbers& rest, const PlaceNumbers& whole) {
  const auto fits = [](uint64_t part_value, uint64_t rest_value, uint64_t whole_value) {
    return whole_value > rest_value && distance(whole_value - rest_value, part_value) <= part_value / 10;
  };
  return fits(part.total_blocks, rest.total_blocks, whole.total_blocks) &&
         fits(part.total_bytes, rest.total_bytes, whole.total_bytes);
}

class Round {
 public:
  Round(StackPaths* paths, BySide<const Device*> devices) : paths_(*paths) {
    for (const Side side : kSides) {
      if (devices[side] != nullptr) add_sites(side, *devices[side]);
    }
    std::sort(groups_.begin(), groups_.end(),
              [](const Group& a, const Group& b) { return a.stack.path < b.stack.path; });
    for (uint32_t i = 0; i < groups_.size(); ++i) group_of_path_[groups_[i].stack.path] = i;
  }

  std::vector<MatchedStack> run() {
    match_projections();
    match_subsequences();
    match_inlined();
    std::vector<MatchedStack> stacks;
    for (Group& group : groups_) {
      if (!group.is_joined) stacks.push_back(group.stack);
    }
    return stacks;
  }

 private:
  void add_sites(Side side, const Device& device) {
    for (const Site& site : device.sites) {
      const uint32_t path = paths_.path_of(side, site);
      const auto [entry, is_new] = group_of_path_.try_emplace(path, static_cast<uint32_t>(groups_.size()));
      if (is_new) groups_.emplace_back().stack.path = path;
      Group& group = groups_[entry->second];
      MatchedStack& stack = group.stack;
      if (!stack.is_in[side] || site.numbers.total_bytes > group.largest_site[side]) {
        stack.node[side] = site.node;
        group.largest_site[side] = site.numbers.total_bytes;
      }
      stack.is_in[side] = true;
      stack.numbers[side].add(site);
    }
  }

  bool is_single(const Group& group) const {
    return !group.is_joined && group.stack.path != 0 && group.stack.is_in[kBase] != group.stack.is_in[kCurrent];
  }
  static Side side_of(const Group& group) { return group.stack.is_in[kBase] ? kBase : kCurrent; }

  void join(Group* into, Group* from) {
    MatchedStack& stack = into->stack;
    for (const Side side : kSides) {
      if (!from->stack.is_in[side]) continue;
      if (!stack.is_in[side] || from->largest_site[side] > into->largest_site[side]) {
        stack.node[side] = from->stack.node[side];
        into->largest_site[side] = from->largest_site[side];
      }
      stack.is_in[side] = true;
      stack.numbers[side].add(from->stack.numbers[side]);
    }
    from->is_joined = true;
    into->has_taken_in = true;
  }

  // The group's stack is in one profile only. Whether the other profile has the function in which the stack ends.
  bool ends_in_known(const Group& group) const {
    return paths_.is_known(other_side(side_of(group)), paths_.innermost(group.stack.path));
  }

  // Step 2: joins stacks that are alike without the functions that the other profile lacks.
  void match_projections() {
    struct Projected {
      uint32_t path;
      uint32_t group;
    };
    std::vector<Projected> all;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      if (!is_single(groups_[i])) continue;
      const uint32_t path = paths_.project(groups_[i].stack.path, other_side(side_of(groups_[i])));
      if (path != 0) all.push_back({path, i});
    }
    std::stable_sort(all.begin(), all.end(), [](const Projected& a, const Projected& b) { return a.path < b.path; });
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      BySide<std::vector<uint32_t>> members;
      for (; end < all.size() && all[end].path == all[begin].path; ++end)
        members[side_of(groups_[all[end].group])].push_back(all[end].group);
      if (!members[kBase].empty() && !members[kCurrent].empty())
        match_members(all[begin].path, members[kBase], members[kCurrent]);
    }
  }

  void match_members(uint32_t path, const std::vector<uint32_t>& base, const std::vector<uint32_t>& current) {
    const auto known = [&](uint32_t i) { return ends_in_known(groups_[i]); };
    const auto known_base = std::find_if(base.begin(), base.end(), known);
    const auto known_current = std::find_if(current.begin(), current.end(), known);
    if (known_base == base.end() && known_current == current.end()) return;
    Group& anchor = groups_[known_base != base.end() ? *known_base : *known_current];
    if (known_base != base.end() && known_current != current.end()) {  // one innermost function: no evidence is needed
      for (const std::vector<uint32_t>* members : {&base, &current}) {
        for (const uint32_t i : *members) {
          if (&groups_[i] != &anchor && known(i)) join(&anchor, &groups_[i]);
        }
      }
    } else {
      BySide<PlaceNumbers> sums;
      for (const uint32_t i : base) sums[kBase].add(groups_[i].stack.numbers[kBase]);
      for (const uint32_t i : current) sums[kCurrent].add(groups_[i].stack.numbers[kCurrent]);
      if (!are_alike(sums[kBase], sums[kCurrent])) return;
      for (const std::vector<uint32_t>* members : {&base, &current}) {
        for (const uint32_t i : *members) {
          if (&groups_[i] != &anchor) join(&anchor, &groups_[i]);
        }
      }
    }
    anchor.stack.path = path;
  }

  void match_subsequences() {
    struct Members {
      BySide<std::vector<uint32_t>> singles;
      std::vector<uint32_t> takers;  // already matched, by more than equal paths
    };
    std::map<uint32_t, Members> by_function;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      if (group.stack.path == 0 || group.is_joined) continue;
      Members& members = by_function[paths_.innermost(group.stack.path)];
      if (is_single(group)) members.singles[side_of(group)].push_back(i);
      if (!is_single(group) && group.has_taken_in) members.takers.push_back(i);
    }
    for (auto& [function, members] : by_function) {
      for (std::vector<uint32_t>& singles : members.singles) keep_largest(&singles);
      if (members.takers.size() > kMostCompared) members.takers.resize(kMostCompared);
      match_longer_to_shorter(members.singles, members.takers);
    }
  }

  void keep_largest(std::vector<uint32_t>* members) const {
    if (members->size() <= kMostCompared) return;
    const auto total = [&](uint32_t i) { return groups_[i].stack.numbers[side_of(groups_[i])].total_bytes; };
    std::stable_sort(members->begin(), members->end(), [&](uint32_t a, uint32_t b) { return total(a) > total(b); });
    members->resize(kMostCompared);
  }

  // Matches the longest stacks first, so that a stack with others joined into it is not joined into another itself.
  void match_longer_to_shorter(const BySide<std::vector<uint32_t>>& singles, const std::vector<uint32_t>& takers) {
    if ((singles[kBase].empty() || singles[kCurrent].empty()) && takers.empty()) return;
    const auto length = [&](uint32_t i) { return paths_.length(groups_[i].stack.path); };
    const auto is_longer = [&](uint32_t a, uint32_t b) { return length(a) > length(b); };
    std::vector<uint32_t> all;
    BySide<std::vector<uint32_t>> partners = {takers, takers};  // index: the side of the stacks that look for a partner
    for (const Side side : kSides) {
      all.insert(all.end(), singles[side].begin(), singles[side].end());
      std::vector<uint32_t>& others = partners[other_side(side)];
      others.insert(others.end(), singles[side].begin(), singles[side].end());
    }
    std::stable_sort(all.begin(), all.end(), is_longer);
    BySide<std::vector<Candidate>> candidates;
    for (const Side side : kSides) {
      std::stable_sort(partners[side].begin(), partners[side].end(), is_longer);
      for (const uint32_t i : partners[side])
        candidates[side].push_back({paths_.functions_of(groups_[i].stack.path), i, length(i)});
    }
    for (const uint32_t i : all) {
      Group& longer = groups_[i];
      if (!is_single(longer)) continue;
      const StackPaths::FunctionSet functions = paths_.functions_of(longer.stack.path);
      for (const Candidate& candidate : candidates[side_of(longer)]) {
        if (candidate.length >= length(i) || !has_all(functions, candidate.functions)) continue;
        Group& shorter = groups_[candidate.group];
        if (shorter.is_joined || !paths_.is_subsequence(shorter.stack.path, longer.stack.path)) continue;
        join(&shorter, &longer);
        break;
      }
    }
  }

  Group* find_group(uint32_t path) {
    const auto found = group_of_path_.find(path);
    return path == 0 || found == group_of_path_.end() || groups_[found->second].is_joined ? nullptr
                                                                                          : &groups_[found->second];
  }

  // Step 4: finds the stack that has more in the other profile because this group's innermost functions were inlined
  // into it there.
  Group* find_host(const Group& group) {
    const Side side = side_of(group);
    const auto is_host = [&](const Group* host) {
      return host != nullptr && host != &group && host->stack.is_in[other_side(side)] &&
             is_missing_part(group.stack.numbers[side], host->stack.numbers[side],
                             host->stack.numbers[other_side(side)]);
    };
    uint32_t path = group.stack.path;
    for (int i = 0; i < kMostInlined && path != 0; ++i) {
      path = paths_.caller(path);
      if (Group* host = find_group(path); is_host(host)) return host;
    }
    Group* host = find_group(paths_.project(group.stack.path, other_side(side)));
    return is_host(host) ? host : nullptr;
  }

  void match_inlined() {
    std::vector<uint32_t> singles;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      if (is_single(groups_[i])) singles.push_back(i);
    }
    for (const uint32_t i : singles) {
      if (!is_single(groups_[i])) continue;
      if (Group* host = find_host(groups_[i]); host != nullptr) join(host, &groups_[i]);
    }
  }

  StackPaths& paths_;
  std::vector<Group> groups_;
  std::unordered_map<uint32_t, uint32_t> group_of_path_;
};

}  // namespace

std::vector<MatchedStack> match_stacks(StackPaths* paths, BySide<const Device*> devices) {
  return Round(paths, devices).run();
}

}  // namespace heapprof::cli
