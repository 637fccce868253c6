// cli/write/report/suppressions_text.cc: see report_sections.h.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace heapprof::cli {

SuppressedRules suppressed_rules(const ReportView& view, const Device& device, size_t columns, bool colored) {
  const auto bytes = [&](uint64_t value) { return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value); };
  const auto faint = [&](const std::string& text) { return colored ? "\x1b[2m" + text + "\x1b[0m" : text; };
  const std::vector<SuppressedLeaks> sums = sum_by_rule(view.suppressions, device);
  std::vector<size_t> order;
  size_t used = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    used += sums[i].blocks > 0 ? 1 : 0;
    if (sums[i].blocks > 0 || !view.suppressions[i].source.empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(sums[a].bytes, sums[a].blocks) > std::pair(sums[b].bytes, sums[b].blocks);
  });
  SuppressedRules text;
  text.remark = fmt::format("{} of {} used", used, format_counted(sums.size(), "rule"));
  size_t bytes_width = 0;
  size_t blocks_width = 0;
  for (const size_t i : order) {
    bytes_width = std::max(bytes_width, display_width(bytes(sums[i].bytes)));
    blocks_width = std::max(blocks_width, display_width(format_counted(sums[i].blocks, "block")));
  }
  const size_t indent = bytes_width + blocks_width + 4;
  const size_t room = columns > indent + 12 ? columns - indent : 12;
  for (const size_t i : order) {
    const SuppressionRule& rule = view.suppressions[i];
    const std::string numbers = sums[i].blocks == 0
                                    ? pad_left("unused", indent - 2)
                                    : pad_left(bytes(sums[i].bytes), bytes_width) + "  " +
                                          pad_left(format_counted(sums[i].blocks, "block"), blocks_width);
    const std::string source =
        rule.source.empty() ? "built in" : fmt::format("{}:{}", escape_controls(rule.source), rule.line);
    text.rows += fmt::format("{}  {}\n", numbers, shorten_middle(rule.text, room));
    text.rows +=
        std::string(indent, ' ') + faint(shorten_middle(fmt::format("{}: {}", source, rule.reason), room)) + "\n";
  }
  return text;
}

}  // namespace heapprof::cli
