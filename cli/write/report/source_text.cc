// cli/write/report/source_text.cc: numbers first, as they are what is looked for; the source as far as a terminal has
// room for it. Whose text cannot be had shows the names of functions instead.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

constexpr uint32_t kContext = 3;  // lines before and after one with numbers
constexpr size_t kGap = 2;
constexpr size_t kLongestLine = 400;  // columns of source where there is no terminal

using Row = std::array<std::string, 6>;  // itself, blocks, with what it calls, share, line, text

std::string without_tabs(std::string_view line) {
  constexpr size_t kTab = 8;
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(kTab - text.size() % kTab, ' ');
    } else if (c != '\r') {
      text += c;
    }
  }
  return text;
}

std::string cut(std::string text, size_t columns) {
  constexpr size_t kMostBytes = 8;  // of a column, about: what is far longer is not measured again and again
  if (text.size() <= columns || display_width(text) <= columns) return text;
  text.resize(std::min(text.size(), columns * kMostBytes));
  while (!text.empty() && display_width(text) + 1 > columns) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
  }
  return text + "…";
}

}  // namespace

std::string source_text(const Profile& profile, const FrameNames& names, const Device& device,
                        const AnnotatedSource& source, const SourceLook& look) {
  const bool in_bytes = is_in_bytes(look.metric);
  const auto shown = [&](uint64_t value) {
    if (value == 0) return std::string();
    if (!in_bytes) return look.exact_bytes ? format_count_exact(value) : format_count(value);
    return look.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  const uint64_t all = sum_of_sites(device).metric(look.metric);
  const std::map<uint32_t, LineNumbers>& lines = source.lines.lines;
  const std::string file = names.file(lines.begin()->second.frame);
  std::vector<Row> rows = {{"itself", in_bytes ? "blocks" : "", "with calls", "share", "line", ""}};
  uint32_t next = 0;  // the first line that has not been shown
  for (auto it = lines.begin(); it != lines.end(); ++it) {
    const auto& [number, numbers] = *it;
    const bool has_text = number <= source.text.size();
    const uint32_t context = has_text ? kContext : 0;
    const auto plain = [&](uint32_t line) {
      rows.push_back({"", "", "", "", std::to_string(line), without_tabs(source.text[line - 1])});
    };
    const uint32_t from = std::max(next, number > context ? number - context : 1);
    if (next != 0 && from > next) rows.push_back({"", "", "", "", "…", ""});
    for (uint32_t line = from; line < number; ++line) plain(line);
    rows.push_back({shown(numbers.itself),
                    in_bytes && numbers.itself_blocks > 0 ? format_count(numbers.itself_blocks) : "",
                    shown(numbers.called), format_percent({numbers.called, all}), std::to_string(number),
                    has_text ? without_tabs(source.text[number - 1]) : "in " + names.function(numbers.frame)});
    next = number + 1;
    const uint32_t end = std::next(it) == lines.end() ? UINT32_MAX : std::next(it)->first;
    for (uint32_t i = 0; i < context && next < end && next <= source.text.size(); ++i, ++next) plain(next);
  }
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  constexpr size_t kRoomForBlocks = 110;
  const bool has_blocks = in_bytes && (look.columns == 0 || look.columns >= kRoomForBlocks);
  std::string text = fmt::format("SOURCE {}", file);
  if (look.colored) text = "\x1b[1m" + text + "\x1b[0m";
  text +=
      fmt::format("  {} of {}: {} of {}\n", shown_metric(look.metric, live_word(profile)), escape_controls(device.name),
                  source.lines.itself == 0 ? "none" : shown(source.lines.itself), all == 0 ? "none" : shown(all));
  if (!source.remark.empty()) text += source.remark + "\n";
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (i != 1 || has_blocks) line += pad_left(row[i], widths[i]) + std::string(kGap, ' ');
    }
    const size_t used = display_width(line);
    const size_t room = look.columns == 0 ? kLongestLine : std::max<size_t>(look.columns, used + 10) - used;
    line += cut(escape_controls(row[5]), room);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace heapprof::cli
