// cli/top/paint_lines.cc: an unchanged line sends no bytes, which matters over ssh: the changes of a second are about
// 500 bytes.
#include "cli/top/paint_lines.h"

#include "cli/base/text.h"

#include <fmt/format.h>

namespace heapprof::cli {

std::string paint_lines(const std::vector<std::string>& shown, const std::vector<std::string>& wanted) {
  std::string bytes;
  if (shown.empty()) bytes = "\x1b[H\x1b[2J";
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < shown.size() ? shown[i] == wanted[i] : wanted[i].empty() && shown.empty()) continue;
    // The line is cleared before its text is written. After a text in the last column, the cursor stays on that column,
    // so that clearing would delete its character.
    bytes += fmt::format("\x1b[{};1H\x1b[K{}", i + 1, wanted[i]);
  }
  for (size_t i = wanted.size(); i < shown.size(); ++i) {
    if (!shown[i].empty()) bytes += fmt::format("\x1b[{};1H\x1b[K", i + 1);
  }
  return bytes;
}

std::string cut_to_columns(std::string_view text, size_t columns) {
  if (is_printable_ascii(text)) return std::string(text.substr(0, columns));
  size_t width = 0;
  size_t end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    width += display_width(text.substr(end, next - end));
    if (width > columns) break;
    end = next;
  }
  return std::string(text.substr(0, end));
}

std::string line_of_pieces(const std::vector<LinePiece>& pieces, size_t columns, bool utf8, bool colored) {
  std::string line;
  size_t left = columns;
  for (const LinePiece& piece : pieces) {
    const std::string text = cut_to_columns(utf8 ? piece.text : to_ascii(piece.text), left);
    left -= display_width(text);
    const bool has_color = colored && piece.sign != LinePiece::Sign::kNone;
    if (has_color) line += piece.sign == LinePiece::Sign::kGrowth ? "\x1b[31m" : "\x1b[32m";
    line += text;
    if (has_color) line += "\x1b[0m";
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace heapprof::cli
