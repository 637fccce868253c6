// cli/run/process_tree_text.cc: see process_tree_text.h. A build has thousands of processes, and a summary has one
// screen. So processes are sorted by peak: sorted by start, the largest could be anywhere. The parent's pid is shown
// next to the pid, because rows sorted by peak cannot be indented as a tree. Peaks of processes are never added up,
// because they were at different times.
#include "cli/run/process_tree_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/target/process_names.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr size_t kWide = 72;  // in columns; from this width on, the resident memory and the parent are shown, too

constexpr size_t kMostNames = 5;

using Indexes = std::vector<uint32_t>;

// The largest processes and the program that was started, sorted by peak. Of equal ones, the earlier comes first.
Indexes choose(const std::vector<TreeEntry>& entries, size_t most) {
  Indexes shown;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].fate == Fate::kProfiled && !entries[i].is_dropped) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [&](uint32_t a, uint32_t b) { return largest_peak(entries[a]) > largest_peak(entries[b]); });
  if (shown.size() <= most) return shown;
  const bool has_root = entries[ProcessTree::kRoot].fate == Fate::kProfiled;
  shown.erase(shown.begin() + static_cast<ptrdiff_t>(most), shown.end());
  const bool is_root_small = has_root && std::find(shown.begin(), shown.end(), ProcessTree::kRoot) == shown.end();
  if (is_root_small) shown.back() = ProcessTree::kRoot;
  return shown;
}

// "4712"; or "4713 ← 4712" if its parent is not the program that was started.
std::string pid_text(const std::vector<TreeEntry>& entries, uint32_t index, bool with_parent) {
  const TreeEntry& entry = entries[index];
  if (!with_parent || index == ProcessTree::kRoot || entry.parent == ProcessTree::kRoot)
    return fmt::format("{}", entry.pid);
  return fmt::format("{} ← {}", entry.pid, entries[entry.parent].pid);
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

std::string tree_title(const ProcessTree& tree, size_t columns) {
  const std::vector<TreeEntry>& entries = tree.entries();
  const bool has_resident = columns >= kWide && std::any_of(entries.begin(), entries.end(), [](const TreeEntry& entry) {
                              return entry.resident_bytes != 0;
                            });
  return fmt::format("processes, by peak of heap + mapped{}", has_resident ? "; beside it the most resident" : "");
}

std::string tree_text(const ProcessTree& tree, size_t columns, size_t most_rows) {
  const std::vector<TreeEntry>& entries = tree.entries();
  if (entries.size() <= 1) return "";
  const bool is_wide = columns >= kWide;
  const Indexes shown = choose(entries, most_rows);
  struct Row {
    std::string peak, resident, devices, pid, command;
  };
  std::vector<Row> rows;
  for (const uint32_t index : shown) {
    const TreeEntry& entry = entries[index];
    rows.push_back({entry.has_numbers ? format_bytes(entry.peak_bytes) : "?",
                    is_wide && entry.resident_bytes != 0 ? format_bytes(entry.resident_bytes) : "",
                    devices_text(entry.devices), pid_text(entries, index, is_wide), ""});
  }
  std::string Row::*const numbers[] = {&Row::peak, &Row::resident, &Row::devices, &Row::pid};
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (std::string Row::*const column : numbers) {
      size_t width = 0;
      for (const Row& other : rows) width = std::max(width, display_width(other.*column));
      const bool is_number = column == &Row::peak || column == &Row::resident;
      if (width != 0) line += "  " + (is_number ? pad_left(rows[i].*column, width) : pad_right(rows[i].*column, width));
    }
    const TreeEntry& entry = entries[shown[i]];
    const char* remark = shown[i] == ProcessTree::kRoot            ? "  (started)"
                         : entry.has_numbers && entry.path.empty() ? "  (not saved)"
                                                                   : "";
    const size_t used = display_width(line) + 2 + display_width(remark);
    text += line + "  " + short_command(entry.command, entry.title, columns > used + 10 ? columns - used : 10) +
            remark + "\n";
  }
  uint64_t fates[kFates] = {};
  for (const TreeEntry& entry : entries) ++fates[static_cast<size_t>(entry.fate)];
  const auto of = [&fates](Fate fate) { return fates[static_cast<size_t>(fate)]; };
  const auto dropped = static_cast<uint64_t>(
      std::count_if(entries.begin(), entries.end(), [](const TreeEntry& entry) { return entry.is_dropped; }));
  std::string rest = counted(of(Fate::kProfiled) - rows.size() - dropped, "smaller", "");
  rest = counted(dropped, "small ones without files (--all-processes)", rest);
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

std::string process_names_text(const std::vector<pid_t>& pids) {
  std::string names;
  for (size_t i = 0; i < std::min(pids.size(), kMostNames); ++i) {
    const std::string comm = process_comm(pids[i]);
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", comm.empty() ? "unknown" : escape_controls(comm), pids[i]);
  }
  if (pids.size() > kMostNames) names += fmt::format(" and {} more", pids.size() - kMostNames);
  return names;
}

}  // namespace heapprof::cli
