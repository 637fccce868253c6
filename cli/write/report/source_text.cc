// cli/write/report/source_text.cc: numbers first, as users look for these; then as much of the source as fits the
// terminal. Lines whose text cannot be read show the function's name.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr uint32_t kContext = 3;  // lines before and after one with numbers
constexpr size_t kGap = 2;
constexpr size_t kLongestLine = 400;  // columns of source without a terminal
constexpr size_t kMostLineBytes = 16 << 10;

using Row = std::array<std::string, 6>;  // itself, blocks, with what it calls, share, line, text

// Where each line begins.
std::vector<uint32_t> starts_of_lines(std::string_view text) {
  std::vector<uint32_t> starts;
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
    starts.push_back(static_cast<uint32_t>(at));
  return starts;
}

// As much of a line as fits `columns`; tabs go to the next multiple of eight columns.
std::string shown_code(std::string_view line, size_t columns) {
  constexpr size_t kTab = 8;
  constexpr size_t kMostBytes = 16;  // per column; later bytes are never shown
  const bool is_cut = line.size() > columns * kMostBytes;
  line = line.substr(0, columns * kMostBytes);
  std::string text;
  size_t used = 0;
  while (!line.empty()) {
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string piece = escape_controls(line.substr(0, line.substr(0, tab).ends_with('\r') ? tab - 1 : tab));
    text += piece;
    used += display_width(piece);
    if (tab == line.size()) break;
    text.append(kTab - used % kTab, ' ');
    used += kTab - used % kTab;
    line.remove_prefix(tab + 1);
  }
  if (!is_cut && used <= columns) return text;
  size_t end = 0;
  used = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    used += display_width(std::string_view(text).substr(end, next - end));
    if (used + 1 > columns) break;
    end = next;
  }
  return text.substr(0, end) + "…";
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
  const std::vector<uint32_t> starts = starts_of_lines(source.text);
  const auto code = [&](size_t number) {
    const std::string_view rest = std::string_view(source.text).substr(starts[number - 1]);
    return std::string(rest.substr(0, std::min(rest.find('\n'), kMostLineBytes)));
  };
  uint32_t next = 0;  // the first line not shown yet
  const auto plain = [&](uint32_t line) { rows.push_back({"", "", "", "", std::to_string(line), code(line)}); };
  for (auto it = lines.begin(); it != lines.end(); ++it) {
    const auto& [number, numbers] = *it;
    const bool has_text = number <= starts.size();
    const uint32_t context = has_text ? kContext : 0;
    const uint32_t from = std::max(next, number > context ? number - context : 1);
    if (next != 0 && from > next) rows.push_back({"", "", "", "", "…", ""});
    for (uint32_t line = from; line < number; ++line) plain(line);
    rows.push_back({shown(numbers.itself),
                    in_bytes && numbers.itself_blocks > 0 ? format_count(numbers.itself_blocks) : "",
                    shown(numbers.called), format_percent({numbers.called, all}), std::to_string(number),
                    has_text ? code(number) : "in " + names.function(numbers.frame)});
    next = number + 1;
    const uint32_t end = std::next(it) == lines.end() ? UINT32_MAX : std::next(it)->first;
    for (uint32_t i = 0; i < context && next < end && next <= starts.size(); ++i, ++next) plain(next);
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
  text += source.remarks;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (i != 1 || has_blocks) line += pad_left(row[i], widths[i]) + std::string(kGap, ' ');
    }
    const size_t used = display_width(line);
    const size_t room = look.columns == 0 ? kLongestLine : std::max<size_t>(look.columns, used + 10) - used;
    line += shown_code(row[5], room);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace heapprof::cli
