// cli/write/diff/names_section.cc: see names_section.h.
#include "cli/write/diff/names_section.h"

#include "cli/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace heapprof::cli {

NamesSection find_name_changes(const TwoProfiles& two, const DiffView& view, size_t default_top) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, BySide<const NamedMemory*>> names;
  for (const Side side : kSides) {
    for (const Device& device : two.profiles[side]->devices) {
      if (!view.device.empty() && view.device != device.name) continue;
      for (const NamedMemory& named : device.names) names[{device.name, named.category, named.name}][side] = &named;
    }
  }
  NamesSection section;
  for (const auto& [key, sides] : names) {
    for (const bool is_maximum : {true, false}) {
      NameChange change;
      std::tie(change.device, change.category, change.name) = key;
      change.is_maximum = is_maximum;
      const auto bytes_of = [is_maximum, &sides = sides](Side side) {
        if (sides[side] == nullptr) return uint64_t{0};
        return is_maximum ? sides[side]->max_bytes : sides[side]->leaked_bytes;
      };
      for (const Side side : kSides) change.is_in[side] = sides[side] != nullptr;
      change.bytes = {bytes_of(kBase), bytes_of(kCurrent)};
      const Metric metric = is_maximum ? Metric::kPeak : Metric::kLeaked;
      if (view.all || !is_within(change.bytes, metric, view.tolerance)) section.changes.push_back(std::move(change));
    }
  }
  std::stable_sort(section.changes.begin(), section.changes.end(),
                   [](const NameChange& a, const NameChange& b) { return a.bytes.amount() > b.bytes.amount(); });
  section.shown = std::min(section.changes.size(), view.top.value_or(default_top));
  return section;
}

NameCells name_cells(const NameChange& change, const DiffView& view) {
  const auto value = [&](Side side, uint64_t bytes) -> std::string {
    if (!change.is_in[side]) return "-";
    return view.exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes);
  };
  NamedMemory named;
  named.category = change.category;
  named.name = change.name;
  NameCells cells;
  cells.name = shown_name(named);
  cells.number = change.is_maximum ? "most" : "at the end";
  if (change.device != "host") cells.number += " on " + escape_controls(change.device);
  cells.base = value(kBase, change.bytes.base);
  cells.current = value(kCurrent, change.bytes.current);
  cells.change = view.exact_bytes ? format_change_bytes_exact(change.bytes) : format_change_bytes(change.bytes);
  cells.percent = format_change_percent(change.bytes);
  return cells;
}

}  // namespace heapprof::cli
