// cli/write/report/device_text.cc: each device has one line, and more lines for further facts.
//
// The cells of all devices are in common columns, so that two cards can be compared. Facts that only some devices have
// (what the driver holds, the spread of merged peaks) follow, and wrap at the terminal's width.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/compare/peak_spread.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heapprof::cli {
namespace {

// The known parts of the resident set, and the rest, because an out-of-memory kill depends on the whole set.
std::vector<std::string> resident_cells(const DeviceTotals& totals, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  const uint64_t seen = add_saturating(totals.live_at_resident_max_bytes, totals.mapped_at_resident_max_bytes);
  std::vector<std::string> cells = {fmt::format("resident at most {} (sampled):", bytes(totals.resident_max_bytes)),
                                    fmt::format("heap {}", bytes(totals.live_at_resident_max_bytes))};
  if (totals.mapped_at_resident_max_bytes != 0)
    cells.back() += fmt::format(" + mapped {}", bytes(totals.mapped_at_resident_max_bytes));
  cells.back() += ",";
  cells.push_back(seen > totals.resident_max_bytes
                      ? "not all of it touched"
                      : fmt::format("the rest {}", bytes(totals.resident_max_bytes - seen)));
  return cells;
}

// The resident but unused part of the heap, if it is a good part.
std::vector<std::string> unreturned_cells(const Fragmentation& it, bool exact_bytes) {
  if (!it.is_worth_a_line()) return {};
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  return {fmt::format("from {} on unused, and resident: {}", format_duration(it.from_ns), bytes(it.unused_bytes())),
          fmt::format("(empty pages {},", bytes(it.empty_bytes)),
          fmt::format("pages nearly empty {})", bytes(it.sparse_bytes))};
}

// The part of large blocks that was never used, if it is a good part.
std::vector<std::string> untouched_cells(const Untouched& it, bool exact_bytes) {
  if (!it.is_worth_a_line()) return {};
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  return {fmt::format("not touched at {}: {}", format_duration(it.seen_ns), bytes(it.untouched_bytes)),
          fmt::format("of {} in blocks of 64 KiB and more", bytes(it.bytes))};
}

class DeviceLines {
 public:
  // tree: nullptr if packages are not asked for.
  DeviceLines(const Profile& profile, const PlaceTree* tree, bool exact_bytes, size_t columns)
      : profile_(profile), tree_(tree), exact_bytes_(exact_bytes), columns_(columns) {}

  std::string write(const std::vector<const Device*>& devices, bool facts_alone) {
    std::vector<std::vector<std::string>> rows;
    for (const Device* device : devices)
      has_suppressed_ = has_suppressed_ || (profile_.has_lifetimes && sum_of_sites(*device).suppressed_blocks > 0);
    for (const Device* device : devices) {
      name_width_ = std::max(name_width_, display_width(escape_controls(device->name)));
      rows.push_back(device_cells(*device));
      widths_.resize(std::max(widths_.size(), rows.back().size()));
      for (size_t i = 0; i < rows.back().size(); ++i) widths_[i] = std::max(widths_[i], display_width(rows.back()[i]));
    }
    for (size_t i = 0; i < devices.size(); ++i) {
      first_line(*devices[i], std::move(rows[i]));
      if (!facts_alone) further_lines(*devices[i]);
    }
    return text_;
  }

 private:
  std::string bytes(uint64_t value) const { return exact_bytes_ ? format_bytes_exact(value) : format_bytes(value); }

  // The processes whose peak is an outlier, and the others' peaks.
  std::vector<std::string> spread_cells(const PeakSpread& spread) const {
    constexpr size_t kMostNamed = 3;
    std::vector<std::string> cells;
    for (size_t i = 0; i < std::min(spread.outliers.size(), kMostNamed); ++i) {
      const MergedPart& part = *spread.outliers[i];
      cells.push_back(
          fmt::format("{} peaked at {},", shorten_middle(escape_controls(part.file), 32), bytes(part.peak_bytes)));
    }
    if (spread.outliers.size() > kMostNamed)
      cells.push_back(fmt::format("{} more stand out,", spread.outliers.size() - kMostNamed));
    const std::string range =
        spread.outliers.empty()
            ? fmt::format("their peaks are {} to {}", bytes(spread.smallest_bytes), bytes(spread.largest_bytes))
            : fmt::format("the others at {} to {}", bytes(spread.smallest_other_bytes),
                          bytes(spread.largest_other_bytes));
    cells.push_back(fmt::format("{} (median {})", range, bytes(spread.median_bytes)));
    if (spread.outliers.empty() && spread.parts > 1 && spread.smallest_bytes < spread.largest_bytes)
      cells.back() += ", the largest in " + shorten_middle(escape_controls(spread.largest->file), 32);
    return cells;
  }

  std::vector<std::string> device_cells(const Device& device) const {
    const DeviceTotals& totals = device.totals;
    std::vector<std::string> cells;
    if (profile_.has_lifetimes) {
      cells.push_back(profile_.merged.empty() ? fmt::format("peak {} at {}", bytes(totals.peak_bytes),
                                                            moment_text(profile_, totals.peak_ns))
                                              : fmt::format("peaks add to {}", bytes(totals.peak_bytes)));
      const PlaceNumbers sum = sum_of_sites(device);
      cells.push_back(fmt::format("{} {}", live_word(profile_), bytes(sum.leaked_bytes)));
      if (has_suppressed_)
        cells.push_back(sum.suppressed_blocks == 0 ? "" : fmt::format("+ {} suppressed", bytes(sum.suppressed_bytes)));
    }
    cells.push_back(fmt::format("{} of {}", format_counted(totals.total_blocks, "alloc"), bytes(totals.total_bytes)));
    if (has_metric(profile_, Metric::kTemporary)) {
      cells.push_back(format_percent_rounded({totals.temporary_blocks, totals.total_blocks}) + " temp");
    }
    return cells;
  }

  // "NVIDIA H200, 139 GiB", its address and name among all devices, and the run's limit.
  std::vector<std::string> identity_cells(const Device& device) const {
    const DeviceIdentity& identity = device.identity;
    std::vector<std::string> cells = {escape_controls(identity.product)};
    if (identity.memory_bytes != 0) cells[0] += ", " + bytes(identity.memory_bytes);
    if (device.limit_bytes != 0) cells[0] += fmt::format(", limited to {}", bytes(device.limit_bytes));
    for (const std::string& name : {identity.pci_id, identity.uuid}) {
      if (!name.empty()) cells.push_back(escape_controls(name));
    }
    return cells;
  }

  // Writes the device's line, the facts in columns; facts that do not fit continue below.
  void first_line(const Device& device, std::vector<std::string> cells) {
    constexpr size_t kGap = 3;
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = pad_right(cells[i], widths_[i]);
    facts(pad_right(escape_controls(device.name), name_width_) + "  ", cells, kGap);
  }

  void further_lines(const Device& device) {
    if (!device.identity.product.empty()) facts(std::string(name_width_ + 2, ' '), identity_cells(device), 3);
    for (const std::vector<std::string>& line : held_lines(device.held, exact_bytes_))
      facts(std::string(name_width_ + 2, ' '), line, 1);
    if (const std::vector<std::string> line = use_line(device.use, device.unseen, exact_bytes_); !line.empty())
      facts(std::string(name_width_ + 2, ' '), line, 1);
    if (const std::vector<std::string> line = name_cells(profile_, device, exact_bytes_); !line.empty())
      facts(std::string(name_width_ + 2, ' '), line, 1);
    if (const std::vector<std::string> line = left_out_cells(profile_, device, exact_bytes_); !line.empty())
      facts(std::string(name_width_ + 2, ' '), line, 1);
    const std::vector<std::string> packages =
        tree_ == nullptr ? std::vector<std::string>() : package_cells(profile_, *tree_, device);
    if (!packages.empty()) facts(std::string(name_width_ + 2, ' '), packages, 1);
    if (device.name == kPythonDevice)
      facts(std::string(name_width_ + 2, ' '), {"Python objects, inside mapped and host:", "no new bytes"}, 1);
    if (device.segments.has_any() || device.name.ends_with("/tensors"))
      for (const std::vector<std::string>& line : segments_lines(device, profile_, exact_bytes_))
        facts(std::string(name_width_ + 2, ' '), line, 1);
    if (device.name == "registered")
      facts(std::string(name_width_ + 2, ' '), {"the program's own memory, page-locked:", "no new bytes"}, 1);
    const DeviceTotals& totals = device.totals;
    if (const PeakSpread spread = find_peak_spread(profile_, device.name); spread.parts > 0 && profile_.has_lifetimes)
      return facts(std::string(name_width_ + 2, ' '), spread_cells(spread), 1);
    if (has_resident_parts(totals)) {
      facts(std::string(name_width_ + 2, ' '), resident_cells(totals, exact_bytes_), 1);
      for (const std::vector<std::string>& line :
           {unreturned_cells(device.fragmentation, exact_bytes_), untouched_cells(device.untouched, exact_bytes_)})
        if (!line.empty()) facts(std::string(name_width_ + 2, ' '), line, 1);
      return;
    }
    if (totals.resident_at_peak_bytes == 0) return;
    std::vector<std::string> cells = {
        fmt::format("resident at peak {} (sampled)", bytes(totals.resident_at_peak_bytes))};
    if (totals.resident_at_peak_bytes > totals.peak_bytes) {
      cells.back() += ':';
      cells.push_back(fmt::format("heap {}, other {}", bytes(totals.peak_bytes),
                                  bytes(totals.resident_at_peak_bytes - totals.peak_bytes)));
    }
    facts(std::string(name_width_ + 2, ' '), cells, 1);
  }

  void facts(const std::string& start, const std::vector<std::string>& cells, size_t gap) {
    std::string line = start;
    for (const std::string& cell : cells) {
      const size_t extra = line.size() == start.size() ? 0 : gap;
      const size_t needed = display_width(cell.substr(0, cell.find_last_not_of(' ') + 1));
      if (extra > 0 && display_width(line) + extra + needed > columns_) {
        text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = std::string(display_width(start), ' ') + cell;
      } else {
        line += std::string(extra, ' ') + cell;
      }
    }
    text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }

  size_t name_width_ = 6;
  bool has_suppressed_ = false;
  std::vector<size_t> widths_;  // of the columns of facts
  const Profile& profile_;
  const PlaceTree* tree_;
  bool exact_bytes_;
  size_t columns_;
  std::string text_;
};

}  // namespace

std::string resident_lines(const DeviceTotals& totals, size_t columns) {
  if (!has_resident_parts(totals)) return "";
  std::string text;
  std::string line;
  for (const std::string& cell : resident_cells(totals, false)) {
    if (!line.empty() && display_width(line) + 1 + display_width(cell) > columns)
      text += std::exchange(line, " ") + "\n";
    line += (line.empty() ? "" : " ") + cell;
  }
  return text + line + "\n";
}

std::string device_lines(const Profile& profile, const PlaceTree& tree, const std::vector<const Device*>& devices,
                         bool exact_bytes, size_t columns) {
  return DeviceLines(profile, &tree, exact_bytes, columns).write(devices, false) +
         inside_text(profile, devices, exact_bytes, columns);
}

std::string device_facts(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                         size_t columns) {
  return DeviceLines(profile, nullptr, exact_bytes, columns).write(devices, true);
}

}  // namespace heapprof::cli
