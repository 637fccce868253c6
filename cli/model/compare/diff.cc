// cli/model/compare/diff.cc: stacks are matched per device, and summed by the function that they end in.
#include "cli/model/compare/diff.h"

#include "cli/model/profile/find_device.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

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

// Orders places by how much they changed; of equals, the larger one in the current profile comes first.
template <typename ChangeOf>
void sort_by_change(std::vector<uint32_t>* order, ChangeOf change_of) {
  std::stable_sort(order->begin(), order->end(), [&](uint32_t a, uint32_t b) {
    const Change left = change_of(a);
    const Change right = change_of(b);
    return std::pair(left.amount(), left.current) > std::pair(right.amount(), right.current);
  });
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

}  // namespace heapprof::cli
