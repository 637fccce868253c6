// cli/write/report/packages_text.cc: see report_sections.h. Names of packages are not trusted, and escaped.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/packages.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

constexpr size_t kPackageColumns = 32;  // of a name
constexpr size_t kPackageGap = 2;

std::string shown(const Package& package) { return shorten_middle(escape_controls(package.name), kPackageColumns); }

}  // namespace

std::vector<std::string> package_cells(const Profile& profile, const PlaceTree& tree, const Device& device) {
  constexpr size_t kMostShown = 5;
  std::vector<std::string> cells;
  if (is_mapped_device(device.name) || is_reserved_device(device.name)) return cells;
  const std::vector<Package> packages = find_packages(profile, tree, device, Metric::kPeak);
  const uint64_t all_bytes = sum_of_sites(device).peak_bytes;
  if (packages.size() < 2 || all_bytes == 0) return cells;
  // If nearly all belongs to the program itself, or to one library, there is nothing to distinguish.
  if (!has_python(profile) && packages[0].numbers.peak_bytes >= all_bytes / 20 * 19) return cells;
  size_t count = 0;
  while (count < std::min(packages.size(), kMostShown) && packages[count].numbers.peak_bytes >= all_bytes / 100)
    ++count;
  for (size_t i = 0; i < count; ++i) {
    cells.push_back(fmt::format("{}{} {}{}", i == 0 ? has_python(profile) ? "by package: " : "by library: " : "",
                                shown(packages[i]), format_percent_rounded({packages[i].numbers.peak_bytes, all_bytes}),
                                i + 1 < count ? "," : ""));
  }
  return cells;
}

std::string package_lines(const Profile& profile, const PlaceTree& tree, const Device& device, size_t columns) {
  std::string text;
  std::string line;
  for (const std::string& cell : package_cells(profile, tree, device)) {
    if (!line.empty() && display_width(line) + 1 + display_width(cell) > columns) {
      text += line + "\n";
      line = " ";
    }
    line += (line.empty() ? "" : " ") + cell;
  }
  return line.empty() ? text : text + line + "\n";
}

std::string packages_table(const Profile& profile, const PlaceTree& tree, const Device& device,
                           const PackagesLook& look) {
  const auto bytes = [&](uint64_t value) { return look.exact_bytes ? format_bytes_exact(value) : format_bytes(value); };
  const std::vector<Package> packages = find_packages(profile, tree, device, look.metric);
  if (packages.empty()) return "";
  const PlaceNumbers all = sum_of_sites(device);
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows = {{"peak", "share", std::string(live_word(profile)), "allocations", "total", "package"}};
  const std::string share_of(shown_metric(look.metric, live_word(profile)));
  rows[0][1] = look.metric == Metric::kPeak ? "share" : "of " + share_of;
  const auto add_row = [&](const PlaceNumbers& numbers, std::string name) {
    rows.push_back({bytes(numbers.peak_bytes), format_percent({numbers.metric(look.metric), all.metric(look.metric)}),
                    bytes(numbers.leaked_bytes), format_count(numbers.total_blocks), bytes(numbers.total_bytes),
                    std::move(name)});
  };
  const size_t count = std::min(packages.size(), look.top);
  for (size_t i = 0; i < count; ++i) add_row(packages[i].numbers, shown(packages[i]));
  PlaceNumbers rest;
  for (size_t i = count; i < packages.size(); ++i) rest.add(packages[i].numbers);
  if (count < packages.size()) add_row(rest, fmt::format("{} more", format_count(packages.size() - count)));
  std::array<size_t, 6> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  // Columns that do not fit are left out: allocations first, then their bytes.
  std::array<bool, 6> is_shown = {true, true, true, true, true, true};
  size_t used = 0;
  for (size_t i = 0; i < 5; ++i) used += widths[i] + kPackageGap;
  for (const size_t column : {size_t{3}, size_t{4}, size_t{2}}) {
    if (used + std::min<size_t>(widths[5], 16) <= look.columns) break;
    is_shown[column] = false;
    used -= widths[column] + kPackageGap;
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < 5; ++i) {
      if (is_shown[i]) line += pad_left(row[i], widths[i]) + std::string(kPackageGap, ' ');
    }
    text += line + shorten_middle(row[5], look.columns > used + 4 ? look.columns - used : 4) + "\n";
  }
  return text;
}

}  // namespace heapprof::cli
