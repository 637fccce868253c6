// cli/write/report/sizes_text.cc: sizes explain a place: a million nodes of 64 bytes are a different problem from one
// table that grew.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/profile/site_fields.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostSizes = 6;
constexpr size_t kWidestBar = 40;
constexpr size_t kNarrowestBar = 5;
constexpr size_t kPercentColumns = 5;

struct SizeRow {
  std::string label;
  uint64_t blocks = 0;
};

// A power of two, without decimals.
struct WholeSize {
  uint64_t number = 0;
  const char* unit = "";
};
WholeSize whole_size(uint64_t size_bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; unit < 3 && size_bytes >= 1024; ++unit) size_bytes /= 1024;
  return {size_bytes, kUnits[unit]};
}

std::string bucket_label(int bucket, const SizesLook& look) {
  const uint64_t least = size_bucket_least(bucket, look.has_coarse_sizes);
  const std::optional<uint64_t> most = size_bucket_most(bucket);
  const auto whole = [&](uint64_t size_bytes) {
    const WholeSize size = whole_size(size_bytes);
    return look.exact_bytes ? format_bytes_exact(size_bytes) : fmt::format("{} {}", size.number, size.unit);
  };
  if (!most) return "above " + whole(least - 1);
  if (least == 0) return "up to " + whole(*most);
  if (look.exact_bytes) return fmt::format("{} to {}", format_count_exact(least), whole(*most));
  // If both ends have the same unit, it is shown once. Below 1 KiB, a label begins with the range's own least size,
  // above with the end of the previous range.
  const WholeSize before = whole_size(least - 1);
  const bool is_small = least - 1 < 1024;
  const uint64_t first = is_small ? least : before.number;
  if (std::string_view(before.unit) == whole_size(*most).unit) return fmt::format("{} to {}", first, whole(*most));
  return fmt::format("{} {} to {}", first, before.unit, whole(*most));
}

std::vector<SizeRow> rows_of(const SizeHistogram& sizes, const SizesLook& look) {
  std::vector<int> used;
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
    if (sizes[bucket] > 0) used.push_back(bucket);
  }
  SizeRow others{"other sizes", 0};
  while (used.size() > kMostSizes || (others.blocks > 0 && used.size() >= kMostSizes)) {
    const auto rarest = std::min_element(used.begin(), used.end(), [&](int a, int b) { return sizes[a] < sizes[b]; });
    others.blocks = add_saturating(others.blocks, sizes[*rarest]);
    used.erase(rarest);
  }
  std::vector<SizeRow> rows;
  for (const int bucket : used) rows.push_back({bucket_label(bucket, look), sizes[bucket]});
  if (others.blocks > 0) rows.push_back(others);
  return rows;
}

std::string bar(uint64_t blocks, uint64_t most, size_t width) {
  const double share = static_cast<double>(blocks) / static_cast<double>(most);
  const auto cells = static_cast<size_t>(share * static_cast<double>(width) + 0.5);
  std::string text;
  for (size_t i = 0; i < cells; ++i) text += "█";
  return pad_right(cells == 0 ? "▏" : text, width);
}

// "812 blocks of 16 B to 40.0 MiB"
std::string range_text(const PlaceNumbers& numbers, const SizesLook& look) {
  const auto bytes = [&](uint64_t value) { return look.exact_bytes ? format_bytes_exact(value) : format_bytes(value); };
  const std::string blocks = format_counted(numbers.total_blocks, "block");
  if (!has_sizes(numbers)) return blocks;
  if (numbers.smallest_bytes != numbers.largest_bytes)
    return fmt::format("{} of {} to {}", blocks, bytes(numbers.smallest_bytes), bytes(numbers.largest_bytes));
  return fmt::format("{} of {}{}", blocks, bytes(numbers.largest_bytes), numbers.total_blocks == 1 ? "" : " each");
}

}  // namespace

std::vector<std::string> sizes_lines(const PlaceNumbers& numbers, const SizesLook& look) {
  const std::string blank(look.indent, ' ');
  const std::vector<SizeRow> rows = rows_of(numbers.sizes, look);
  if (!has_sizes(numbers) && rows.empty()) return {blank + "sizes are not known"};
  std::vector<std::string> lines = {blank + range_text(numbers, look)};
  if (has_sizes(numbers) && numbers.smallest_bytes == numbers.largest_bytes) return lines;
  uint64_t all = 0;
  uint64_t most = 0;
  size_t label_width = 0;
  size_t count_width = 0;
  for (const SizeRow& row : rows) {
    all = add_saturating(all, row.blocks);
    most = std::max(most, row.blocks);
    label_width = std::max(label_width, display_width(row.label));
    count_width = std::max(count_width, display_width(format_count(row.blocks)));
  }
  const size_t used = look.indent + 2 + label_width + 2 + 2 + count_width + 2 + kPercentColumns;
  const size_t room = look.columns > used ? std::min(look.columns - used, kWidestBar) : 0;
  for (const SizeRow& row : rows) {
    std::string line = blank + "  " + pad_left(row.label, label_width) + "  ";
    if (room >= kNarrowestBar) line += bar(row.blocks, most, room) + "  ";
    line += pad_left(format_count(row.blocks), count_width) + "  ";
    lines.push_back(line + pad_left(format_percent_rounded({row.blocks, all}), kPercentColumns));
  }
  return lines;
}

}  // namespace heapprof::cli
