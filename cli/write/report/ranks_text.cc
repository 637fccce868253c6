// cli/write/report/ranks_text.cc: see report_sections.h. If a place has several stacks, it is unknown how much one
// process had, because minima and maxima of stacks do not add up. So the place's largest stack is shown, and marked as
// such.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/compare/rank_findings.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kFields = 5;
constexpr size_t kMostHostColumns = 16;

std::string bytes(uint64_t value, bool exact) { return exact ? format_bytes_exact(value) : format_bytes(value); }

// "rank 3"; "rank 3+" for a child process of the rank.
std::string rank_word(const MergedPart& part) {
  return fmt::format("rank {}{}", *part.job.rank, part.job.is_child ? "+" : "");
}

std::string end_word(const MergedPart& part) {
  if (part.end.kind == EndKind::kSignaled) return fmt::format("signal {}", part.end.status);
  if (part.end.kind == EndKind::kExited && part.end.status != 0) return fmt::format("exit {}", part.end.status);
  return "";
}

}  // namespace

const MergedPart& part_of_input(const Profile& profile, uint32_t input) {
  return *std::lower_bound(profile.merged.begin(), profile.merged.end(), input,
                           [](const MergedPart& part, uint32_t number) { return part.input < number; });
}

RankRows rank_rows(const Profile& profile, const RanksLook& look) {
  std::vector<const MergedPart*> parts;
  for (const MergedPart& part : profile.merged) {
    if (part.job.has_rank()) parts.push_back(&part);
  }
  if (parts.empty() || !profile.has_lifetimes) return {};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MergedPart* a, const MergedPart* b) { return a->peak_bytes > b->peak_bytes; });
  const size_t shown = std::min(parts.size(), look.rows);
  std::vector<std::array<std::string, kFields>> cells;
  std::array<size_t, kFields> widths{};
  for (size_t i = 0; i < shown; ++i) {
    const MergedPart& part = *parts[i];
    std::string device = escape_controls(part.device);
    if (!part.job.local_device.empty() && part.device.starts_with("cuda")) device += " = " + part.job.local_device;
    cells.push_back({bytes(part.peak_bytes, look.exact_bytes), rank_word(part),
                     shorten_middle(escape_controls(part.job.host), kMostHostColumns), device, end_word(part)});
    for (size_t k = 0; k < kFields; ++k) widths[k] = std::max(widths[k], display_width(cells.back()[k]));
  }
  RankRows ranks;
  for (size_t i = 0; i < shown; ++i) {
    std::string line;
    for (size_t k = 0; k < kFields; ++k) {
      if (widths[k] == 0) continue;
      line += (k == 0 ? pad_left(cells[i][k], widths[k]) : pad_right(cells[i][k], widths[k])) + "  ";
    }
    if (!parts[i]->rows.empty()) {
      const PartRow& row = parts[i]->rows[0];
      const std::string size = bytes(row.peak_bytes, look.exact_bytes) + "  ";
      const size_t used = display_width(line) + display_width(size);
      line += size + shorten_middle(escape_controls(row.text), look.columns > used + 8 ? look.columns - used : 8);
    }
    ranks.rows += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  const RankCount count = count_ranks(profile);
  ranks.remark = fmt::format("{} of {} on {}", format_counted(count.ranks, "rank"), escape_controls(count.launcher),
                             format_counted(count.hosts, "host"));
  if (shown < parts.size()) ranks.remark += fmt::format(", top {} of {}", shown, format_count(parts.size()));
  return ranks;
}

std::string ends_text(const Profile& profile) {
  if (profile.dialect != Dialect::kHeapprof) return "";
  std::set<uint32_t> all;
  std::set<uint32_t> well;
  for (const MergedPart& part : profile.merged) {
    all.insert(part.input);
    if (part.end.kind == EndKind::kExited && part.end.status == 0) well.insert(part.input);
  }
  return well.size() == all.size() ? "all exit 0    " : fmt::format("{} of {} exit 0    ", well.size(), all.size());
}

std::optional<uint32_t> largest_spread_site(const Device& device, const Place& place) {
  std::optional<uint32_t> largest;
  for (const uint32_t site : place.sites) {
    if (device.sites[site].spread.empty()) continue;
    if (!largest || device.sites[site].numbers.peak_bytes > device.sites[*largest].numbers.peak_bytes) largest = site;
  }
  return largest;
}

std::string spread_text(const Profile& profile, const Device& device, const Place& place, bool exact_bytes) {
  const std::optional<uint32_t> at = largest_spread_site(device, place);
  if (!at || profile.merged.empty() || count_ranks(profile).ranks == 0) return "";
  const Site& site = device.sites[*at];
  const SiteSpread& spread = site.spread[0];
  const NumberSpread& peak = spread.of[0];
  const uint64_t inputs = profile.merged.back().input + uint64_t{1};
  std::string text =
      place.sites.size() == 1 ? "" : fmt::format("the largest of {} stacks: ", format_count(place.sites.size()));
  if (spread.inputs == 1)
    return text + "only in " + escape_controls(input_name(part_of_input(profile, peak.max_input)));
  text += fmt::format("in {} of {}", format_count(spread.inputs), format_counted(inputs, "process"));
  if (peak.min == peak.max) return text + fmt::format(", {} in each", bytes(peak.max, exact_bytes));
  return text + fmt::format(", {} to {}, average {}, most in {}", bytes(peak.min, exact_bytes),
                            bytes(peak.max, exact_bytes), bytes(site.numbers.peak_bytes / spread.inputs, exact_bytes),
                            escape_controls(input_name(part_of_input(profile, peak.max_input))));
}

}  // namespace heapprof::cli
