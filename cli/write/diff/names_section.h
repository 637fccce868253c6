// cli/write/diff/names_section.h: what the program's own names of memory had in two profiles, where that changed.
//
// Trust:    names are escaped for a terminal; Markdown escapes them further.
#pragma once

#include "cli/write/diff/diff_view.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// One number of one name on one device. 0 where the name is not.
struct NameChange {
  std::string device;
  std::string category;
  std::string name;
  bool is_maximum = false;  // the most that was live under it; else what was at the end
  BySide<bool> is_in = {};
  Change bytes;
};
struct NamesSection {
  std::vector<NameChange> changes;  // beyond the tolerance, or with `all` every one; the most changed first
  size_t shown = 0;                 // of those
};
// With --device the names on that device alone.
NamesSection find_name_changes(const TwoProfiles& two, const DiffView& view, size_t default_top);

// What stands in a row of a table.
struct NameCells {
  std::string name;    // "model: KV cache"
  std::string number;  // "most", "at the end"; of a device other than the host "most on cuda:0"
  std::string base;    // "-" where the name is not
  std::string current;
  std::string change;
  std::string percent;
};
NameCells name_cells(const NameChange& change, const DiffView& view);

}  // namespace heapprof::cli
