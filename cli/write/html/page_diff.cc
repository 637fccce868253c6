// cli/write/html/page_diff.cc: a stack's node is one of the current profile's tree, or of the base's if the current
// profile lacks the stack.
#include "cli/write/diff/diff_words.h"
#include "cli/write/html/page_parts.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr Metric kPageMetrics[] = {Metric::kPeak, Metric::kTotal, Metric::kLeaked, Metric::kAllocations,
                                   Metric::kTemporary};

size_t place_of(const Profile& profile, const std::string& device) {
  for (size_t i = 0; i < profile.devices.size(); ++i) {
    if (profile.devices[i].name == device) return i + 1;
  }
  return 0;
}

template <typename Rows>
void add_numbers(const Rows& rows, PageColumns* columns) {
  for (const Side side : kSides) {
    for (const Metric metric : kPageMetrics)
      columns->column(rows, [=](const auto& row) { return row.numbers[side].metric(metric); });
  }
}

}  // namespace

void write_diff_summary(const TwoProfiles& two, const DiffView& view, JsonWriter* json) {
  constexpr size_t kTopOfSections = 10;
  const DiffWords words(two, view);
  json->key("diff");
  json->begin_object();
  json->texts("sentences", words.sentences(find_sections(two, view, kTopOfSections)));
  json->texts("remarks", words.remarks());
  json->key("devices");
  json->begin_array();
  for (const DeviceChange& device : two.diff.devices) {
    json->begin_object();
    json->text("name", device.name);
    json->count("base", place_of(*two.profiles[kBase], device.name));
    json->count("current", place_of(*two.profiles[kCurrent], device.name));
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

PageColumns page_diff(const TwoProfiles& two, const DiffView& view, const DeviceChange& device, PageTexts* texts) {
  const DiffWords words(two, view);
  struct Stack {
    size_t place = 0;
    const MatchedStack* matched = nullptr;
    BySide<PlaceNumbers> numbers;
  };
  std::vector<Stack> stacks;
  for (size_t i = 0; i < device.places.size(); ++i) {
    for (const MatchedStack& stack : device.places[i].stacks) stacks.push_back({i, &stack, stack.numbers});
  }
  PageColumns columns;
  columns.add(device.places.size());
  columns.add(stacks.size());
  columns.column(device.places, [&](const PlaceChange& place) { return texts->number_of(words.function(place)); });
  const bool has_peaks = has_metric(*two.profiles[kBase], *two.profiles[kCurrent], Metric::kPeak);
  const std::vector<ChangedFrame> frames =
      find_changed_frames(two.profiles, two.diff.trees, device, has_peaks ? Metric::kPeak : Metric::kTotal);
  columns.column(device.places, [&](const PlaceChange& place) {
    const auto index = static_cast<size_t>(&place - device.places.data());
    return texts->number_of(words.location(frames[index]));
  });
  add_numbers(device.places, &columns);
  const auto side_of = [](const Stack& stack) { return stack.matched->is_in[kCurrent] ? kCurrent : kBase; };
  columns.column(stacks, [](const Stack& stack) { return stack.place; });
  columns.column(stacks, [&](const Stack& stack) { return side_of(stack) == kCurrent ? 1 : 0; });
  columns.column(stacks, [&](const Stack& stack) { return stack.matched->node[side_of(stack)]; });
  columns.column(stacks, [&](const Stack& stack) {
    return two.diff.trees[side_of(stack)].place_node[stack.matched->node[side_of(stack)]];
  });
  add_numbers(stacks, &columns);
  return columns;
}

}  // namespace heapprof::cli
