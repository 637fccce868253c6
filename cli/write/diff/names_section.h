// cli/write/diff/names_section.h: the memory under the program's own names in two profiles, if it changed.
//
// Trust:    names are escaped for a terminal; Markdown escapes them further.
#pragma once

#include "cli/write/diff/diff_view.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// One number of one name on one device; 0 in a profile that lacks the name.
struct NameChange {
  std::string device;
  std::string category;
  std::string name;
  bool is_maximum = false;  // the most that was live under the name; else what was live at the end
  BySide<bool> is_in = {};
  Change bytes;
};
struct NamesSection {
  std::vector<NameChange> changes;  // those beyond the tolerance, with `all` every one; the most changed first
  size_t shown = 0;                 // how many of them are shown
};
// With --device only the names on that device.
NamesSection find_name_changes(const TwoProfiles& two, const DiffView& view, size_t default_top);

// The cells of a table row.
struct NameCells {
  std::string name;    // "model: KV cache"
  std::string number;  // "most", "at the end"; for a device other than the host "most on cuda:0"
  std::string base;    // "-" if the name is missing
  std::string current;
  std::string change;
  std::string percent;
};
NameCells name_cells(const NameChange& change, const DiffView& view);

}  // namespace heapprof::cli
