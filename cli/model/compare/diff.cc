// cli/model/compare/diff.cc: stacks are matched per device, and summed by the function in which they end.
#include "cli/model/compare/diff.h"

#include "cli/base/function_name.h"
#include "cli/model/profile/find_device.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {
namespace {

// The frames of a place are those of its largest stack.
void find_frames(const StackPaths& paths, PlaceChange* place) {
  if (place->stacks.front().path == 0) return;
  place->is_by_module = paths.is_by_module(paths.innermost(place->stacks.front().path));
  for (const Side side : kSides) {
    uint64_t largest = 0;
    for (const MatchedStack& stack : place->stacks) {
      const uint64_t total = stack.numbers[side].total_bytes;
      if (!stack.is_in[side] || (place->frame[side] != kNoFrame && total <= largest)) continue;
      const uint32_t frame = paths.find_frame(side, stack.node[side], paths.innermost(stack.path));
      if (frame == kNoFrame) continue;
      place->frame[side] = frame;
      largest = total;
    }
  }
}

std::vector<PlaceChange> find_changes(StackPaths* paths, BySide<const Device*> devices) {
  std::vector<PlaceChange> places;
  std::unordered_map<uint64_t, uint32_t> place_of;  // by function; UINT64_MAX: no stack
  for (MatchedStack& stack : match_stacks(paths, devices)) {
    const uint64_t key = stack.path == 0 ? UINT64_MAX : paths->innermost(stack.path);
    const auto [entry, is_new] = place_of.try_emplace(key, static_cast<uint32_t>(places.size()));
    if (is_new) places.emplace_back();
    PlaceChange& place = places[entry->second];
    for (const Side side : kSides) place.numbers[side].add(stack.numbers[side]);
    place.stacks.push_back(std::move(stack));
  }
  for (PlaceChange& place : places) find_frames(*paths, &place);
  return places;
}

DeviceChange diff_devices(StackPaths* paths, const std::string& name, BySide<const Device*> devices) {
  DeviceChange change;
  change.name = name;
  for (const Side side : kSides) {
    change.is_in[side] = devices[side] != nullptr;
    if (devices[side] != nullptr) change.numbers[side] = sum_of_sites(*devices[side]);
  }
  change.places = find_changes(paths, devices);
  return change;
}

// Orders places by how much they changed; among equals, the larger one in the current profile comes first.
template <typename ChangeOf>
void sort_by_change(std::vector<uint32_t>* order, ChangeOf change_of) {
  std::stable_sort(order->begin(), order->end(), [&](uint32_t a, uint32_t b) {
    const Change left = change_of(a);
    const Change right = change_of(b);
    return std::pair(left.amount(), left.current) > std::pair(right.amount(), right.current);
  });
}

struct Line {
  uint32_t frame = kNoFrame;
  double amount = 0;
};

using Lines = std::vector<Line>;  // in the order of the source

// The lines of all functions of the device, by PlaceTree::functions.
std::unordered_map<uint32_t, Lines> lines_by_function(const Profile& profile, const PlaceTree& tree,
                                                      const std::string& device, Metric metric) {
  std::unordered_map<uint32_t, Lines> lines;
  const Device* const found = find_device(profile, device);
  if (found == nullptr) return lines;
  std::map<std::tuple<uint32_t, std::string_view, uint32_t>, Line> by_line;
  for (const Site& site : found->sites) {
    const uint32_t node = tree.place_node[site.node];
    if (node == 0) continue;
    const uint32_t frame = profile.nodes[node].frame;
    PlaceNumbers numbers;
    numbers.add(site);
    Line& line = by_line[{tree.functions[frame], profile.frames[frame].file, profile.frames[frame].line}];
    line.frame = frame;
    line.amount += static_cast<double>(numbers.metric(metric));
  }
  for (const auto& [where, line] : by_line) lines[std::get<0>(where)].push_back(line);
  return lines;
}

// One large change costs less than two medium ones. So a match with one new line and one unchanged line wins over a
// match with two changed lines.
double cost_of(double amount) { return std::sqrt(std::abs(amount)); }

// How much each line of `now` gained over its partner in `before`. A line without a partner gained all that it has.
std::vector<double> gains(const Lines& before, const Lines& now) {
  const size_t width = before.size() + 1;
  std::vector<double> costs(width * (now.size() + 1));  // by i and j: of matching the first i lines of now with the
                                                        // first j of before
  const auto cost = [&](size_t i, size_t j) -> double& { return costs[i * width + j]; };
  for (size_t i = 0; i <= now.size(); ++i) {
    for (size_t j = 0; j <= before.size(); ++j) {
      if (i == 0 && j == 0) continue;
      double least = HUGE_VAL;
      if (i > 0) least = std::min(least, cost(i - 1, j) + cost_of(now[i - 1].amount));
      if (j > 0) least = std::min(least, cost(i, j - 1) + cost_of(before[j - 1].amount));
      if (i > 0 && j > 0)
        least = std::min(least, cost(i - 1, j - 1) + cost_of(now[i - 1].amount - before[j - 1].amount));
      cost(i, j) = least;
    }
  }
  std::vector<double> gained(now.size());
  for (size_t i = now.size(), j = before.size(); i > 0;) {
    if (j > 0 && cost(i, j) == cost(i - 1, j - 1) + cost_of(now[i - 1].amount - before[j - 1].amount)) {
      gained[i - 1] = now[i - 1].amount - before[j - 1].amount;
      --i, --j;
    } else if (j > 0 && cost(i, j) == cost(i, j - 1) + cost_of(before[j - 1].amount)) {
      --j;
    } else {
      gained[i - 1] = now[i - 1].amount;
      --i;
    }
  }
  return gained;
}

}  // namespace

ProfileDiff diff_profiles(const Profile& base, const Profile& current) {
  ProfileDiff diff;
  diff.trees = {build_place_tree(base), build_place_tree(current)};
  StackPaths paths({&base, &current}, {&diff.trees[kBase], &diff.trees[kCurrent]});
  for (const Device& device : base.devices)
    diff.devices.push_back(diff_devices(&paths, device.name, {&device, find_device(current, device.name)}));
  for (const Device& device : current.devices) {
    if (find_device(base, device.name) == nullptr)
      diff.devices.push_back(diff_devices(&paths, device.name, {nullptr, &device}));
  }
  diff.scopes = diff_scopes(base.scopes, current.scopes);
  return diff;
}

bool has_metric(const Profile& base, const Profile& current, Metric metric) {
  return has_metric(base, metric) && has_metric(current, metric);
}

std::vector<uint32_t> rank_all_changes(const DeviceChange& device, Metric metric) {
  std::vector<uint32_t> order(device.places.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](uint32_t i) { return device.places[i].change(metric).amount() == 0; });
  sort_by_change(&order, [&](uint32_t i) { return device.places[i].change(metric); });
  return order;
}

std::vector<uint32_t> rank_changes(const DeviceChange& device, Metric metric, const Tolerance& tolerance) {
  const Change whole = device.change(metric);
  const bool is_whole_within = is_within(whole, metric, tolerance);
  std::vector<uint32_t> order = rank_all_changes(device, metric);
  std::erase_if(order, [&](uint32_t i) {
    const Change change = device.places[i].change(metric);
    const bool explains = !is_whole_within && change.amount() >= whole.amount() / 10;
    return change.amount() <= tolerance.slack(metric) || (is_within(change, metric, tolerance) && !explains);
  });
  return order;
}

std::vector<uint32_t> rank_stacks(const PlaceChange& place, Metric metric) {
  const auto change_of = [&](uint32_t i) -> Change {
    const MatchedStack& stack = place.stacks[i];
    return {stack.numbers[kBase].metric(metric), stack.numbers[kCurrent].metric(metric)};
  };
  std::vector<uint32_t> order(place.stacks.size());
  std::iota(order.begin(), order.end(), 0u);
  const bool is_growth = place.change(metric).is_growth();
  std::erase_if(order, [&](uint32_t i) { return change_of(i).amount() == 0 || change_of(i).is_growth() != is_growth; });
  sort_by_change(&order, change_of);
  return order;
}

std::vector<ChangedFrame> find_changed_frames(BySide<const Profile*> profiles, const BySide<PlaceTree>& trees,
                                              const DeviceChange& device, Metric metric) {
  constexpr size_t kMostPairs = 1'000'000;
  BySide<std::unordered_map<uint32_t, Lines>> lines;
  for (const Side side : kSides) lines[side] = lines_by_function(*profiles[side], trees[side], device.name, metric);
  // Collects the lines of all functions with the name, because overloads and parts that the compiler split off are one
  // place.
  const auto lines_of = [&](Side side, const PlaceChange& place) {
    Lines all;
    if (place.frame[side] == kNoFrame) return all;
    const Profile& profile = *profiles[side];
    const std::string name = plain_function(profile.frames[place.frame[side]].function);
    std::set<uint32_t> functions;
    for (const MatchedStack& stack : place.stacks) {
      const uint32_t node = stack.is_in[side] ? trees[side].place_node[stack.node[side]] : 0;
      if (node == 0) continue;
      const uint32_t frame = profile.nodes[node].frame;
      if (!functions.insert(trees[side].functions[frame]).second) continue;
      const auto found = lines[side].find(trees[side].functions[frame]);
      if (found != lines[side].end() && plain_function(profile.frames[frame].function) == name)
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    const auto where = [&](const Line& line) {
      return std::pair(std::string_view(profile.frames[line.frame].file), profile.frames[line.frame].line);
    };
    std::sort(all.begin(), all.end(), [&](const Line& x, const Line& y) { return where(x) < where(y); });
    return all;
  };
  std::vector<ChangedFrame> frames;
  for (const PlaceChange& place : device.places) {
    const Change change = place.change(metric);
    const bool is_of_base =
        place.frame[kCurrent] == kNoFrame && (place.frame[kBase] != kNoFrame || change.current == 0);
    frames.push_back({is_of_base ? kBase : kCurrent, place.frame[is_of_base ? kBase : kCurrent]});
    if (place.is_by_module || change.amount() == 0) continue;
    const Side more = change.is_growth() ? kCurrent : kBase;
    const Lines of_more = lines_of(more, place);
    const Lines of_less = lines_of(more == kCurrent ? kBase : kCurrent, place);
    if (of_more.empty() || of_more.size() * of_less.size() > kMostPairs) continue;
    const std::vector<double> gained = gains(of_less, of_more);
    const auto most = std::max_element(gained.begin(), gained.end());
    if (*most > 0) frames.back() = {more, of_more[static_cast<size_t>(most - gained.begin())].frame};
  }
  return frames;
}

}  // namespace heapprof::cli
