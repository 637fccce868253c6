// cli/run/process_tree_text.cc: see process_tree_text.h. A build has thousands of processes and a summary has a screen:
// by peak, then in the order in which they were started, so that a tree is left. Peaks are never added up: they were at
// different times.
#include "cli/run/process_tree_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace heapprof::cli {

namespace {

constexpr size_t kMostDepth = 6;  // deeper ones are not indented further

using Indexes = std::vector<uint32_t>;

// The root and the largest of the others, in order of their start.
Indexes choose(const std::vector<TreeEntry>& entries) {
  Indexes shown;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].fate == Fate::kProfiled && i != ProcessTree::kRoot) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [&](uint32_t a, uint32_t b) { return largest_peak(entries[a]) > largest_peak(entries[b]); });
  if (shown.size() > kMostRows - 1) shown.resize(kMostRows - 1);
  if (entries[ProcessTree::kRoot].fate == Fate::kProfiled) shown.push_back(ProcessTree::kRoot);
  return shown;
}

uint32_t shown_parent(const std::vector<TreeEntry>& entries, const Indexes& shown, uint32_t index) {
  while (index != ProcessTree::kRoot) {
    index = entries[index].parent;
    if (std::find(shown.begin(), shown.end(), index) != shown.end()) return index;
  }
  return ProcessTree::kNone;
}

struct Row {
  uint32_t index = 0;
  size_t depth = 0;
};

// Depth first; parents have smaller indexes than their children.
void add_rows(const std::vector<TreeEntry>& entries, const Indexes& shown, uint32_t parent, size_t depth,
              std::vector<Row>* rows) {
  for (const uint32_t index : shown) {
    if (shown_parent(entries, shown, index) != parent) continue;
    rows->push_back({index, depth});
    add_rows(entries, shown, index, depth + 1, rows);
  }
}

std::string counted(uint64_t count, const std::string& words, std::string text) {
  if (count == 0) return text;
  return text + fmt::format("{}{} {}", text.empty() ? "+ " : ", ", format_count(count), words);
}

}  // namespace

std::string devices_text(const std::vector<DevicePeak>& devices) {
  constexpr size_t kMostDevices = 2;
  std::string text;
  for (size_t i = 0; i < std::min(devices.size(), kMostDevices); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", escape_controls(devices[i].device),
                        format_bytes(devices[i].peak_bytes));
  return devices.size() > kMostDevices ? text + fmt::format(" + {}", devices.size() - kMostDevices) : text;
}

std::string tree_text(const ProcessTree& tree, size_t columns) {
  const std::vector<TreeEntry>& entries = tree.entries();
  if (entries.size() <= 1) return "";
  Indexes shown = choose(entries);
  std::sort(shown.begin(), shown.end());
  std::vector<Row> rows;
  add_rows(entries, shown, ProcessTree::kNone, 0, &rows);
  size_t peak_width = 8;
  size_t pid_width = 3;
  size_t devices_width = 0;
  for (const Row& row : rows) {
    devices_width = std::max(devices_width, display_width(devices_text(entries[row.index].devices)));
    peak_width = std::max(peak_width, display_width(format_bytes(entries[row.index].peak_bytes)));
    pid_width = std::max(pid_width, fmt::format("{}", entries[row.index].pid).size());
  }
  std::string text;
  for (const Row& row : rows) {
    const TreeEntry& entry = entries[row.index];
    const std::string devices = devices_width == 0 ? "" : pad_right(devices_text(entry.devices), devices_width) + "  ";
    const std::string start = fmt::format("  {}  {}{}  {}", pad_left(format_bytes(entry.peak_bytes), peak_width),
                                          devices, pad_left(fmt::format("{}", entry.pid), pid_width),
                                          std::string(2 * std::min(row.depth, kMostDepth), ' '));
    const size_t used = display_width(start);
    text += start + short_command(entry.command, columns > used + 10 ? columns - used : 10) + "\n";
  }
  uint64_t fates[kFates] = {};
  for (const TreeEntry& entry : entries) ++fates[static_cast<size_t>(entry.fate)];
  const auto of = [&fates](Fate fate) { return fates[static_cast<size_t>(fate)]; };
  std::string rest = counted(of(Fate::kProfiled) - rows.size(), "smaller", "");
  rest = counted(of(Fate::kAllocatedNothing), "that allocated nothing", rest);
  rest = counted(of(Fate::kLeftOut), "left out", rest);
  rest = counted(of(Fate::kRefused), "not profiled", rest);
  rest = counted(tree.uncounted(), "more", rest);
  const auto running = static_cast<uint64_t>(
      std::count_if(entries.begin(), entries.end(), [](const TreeEntry& e) { return e.runs_on; }));
  if (!rest.empty()) text += "  " + rest + "\n";
  if (running == 1) text += "  1 runs on: its profile ends here; to stay until it has ended: --wait\n";
  if (running > 1)
    text += fmt::format("  {} run on: their profiles end here; to stay until they have ended: --wait\n", running);
  return text;
}

}  // namespace heapprof::cli
