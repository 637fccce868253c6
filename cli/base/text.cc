// cli/base/text.cc: implements UTF-8 itself: the C library's tables depend on locales that a container or a static
// build may lack.
#include "cli/base/text.h"

#include "cli/base/file_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint32_t kInvalid = 0xffffffff;

struct Character {
  uint32_t code = kInvalid;  // kInvalid: one byte that starts no UTF-8 sequence
  std::string_view bytes;
};

// pre: !text.empty()
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, text.substr(0, 1)};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {kInvalid, text.substr(0, 1)};
  uint32_t code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kInvalid, text.substr(0, 1)};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return {kInvalid, text.substr(0, 1)};
  return {code, text.substr(0, length)};
}

template <typename Visit>
void each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Character character = first_character(text);
    visit(character);
    text.remove_prefix(character.bytes.size());
  }
}

struct Range {
  uint32_t first;
  uint32_t last;
};

bool is_in(uint32_t code, const Range* ranges, size_t count) {
  return std::any_of(ranges, ranges + count,
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// Characters that move the cursor, start an escape sequence, or reorder or hide later text; and those that XML forbids.
constexpr Range kHarmful[] = {{0, 0x1f},        {0x7f, 0x9f},      {0x61c, 0x61c},   {0x200b, 0x200f},
                              {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
                              {0xfffe, 0xffff}, {0xe0000, 0xe0fff}};
constexpr Range kZeroWidth[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},  {0x610, 0x61a},   {0x64b, 0x65f},
                                {0x900, 0x902},   {0xe31, 0xe31},   {0xe34, 0xe3a},  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
                                {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range kDoubleWidth[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
                                  {0xa960, 0xa97f},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                  {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
                                  {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

size_t character_width(uint32_t code) {
  if (is_in(code, kZeroWidth, std::size(kZeroWidth))) return 0;
  return is_in(code, kDoubleWidth, std::size(kDoubleWidth)) ? 2 : 1;
}

std::string head(std::string_view text, size_t columns) {
  std::string result;
  size_t width = 0;
  bool full = false;
  each_character(text, [&](const Character& character) {
    width += character_width(character.code);
    full = full || width > columns;
    if (!full) result += character.bytes;
  });
  return result;
}

std::string tail(std::string_view text, size_t columns) {
  size_t skip = display_width(text);
  size_t offset = 0;
  each_character(text, [&](const Character& character) {
    if (skip <= columns) return;
    skip -= character_width(character.code);
    offset += character.bytes.size();
  });
  return std::string(text.substr(offset));
}

}  // namespace

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string escape_controls(std::string_view text) {
  if (is_printable_ascii(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  each_character(text, [&](const Character& character) {
    if (character.code == kInvalid ||
        (character.code < 0x100 && is_in(character.code, kHarmful, std::size(kHarmful)))) {
      result += character.code == kInvalid ? fmt::format("\\x{:02x}", static_cast<unsigned char>(character.bytes[0]))
                                           : fmt::format("\\x{:02x}", character.code);
    } else if (is_in(character.code, kHarmful, std::size(kHarmful))) {
      result += fmt::format("\\u{:04x}", character.code);
    } else {
      result += character.bytes;
    }
  });
  return result;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  each_character(text, [&](const Character& character) { width += character_width(character.code); });
  return width;
}

std::string pad_left(std::string_view text, size_t columns) {
  const size_t width = display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, size_t columns) {
  const size_t width = display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string to_ascii(std::string_view text) {
  struct Sign {
    uint32_t code;
    const char* ascii;  // as wide as the sign, so that columns stay aligned
  };
  // ← → … ± ▲ ▼ µ × − ├ └ │ ─ » ━ · and the sparkline's eight blocks
  constexpr Sign kSigns[] = {{0x2190, "<"}, {0x2192, ">"}, {0xb1, "~"},   {0x25b2, "^"}, {0x25bc, "v"}, {0x2026, "~"},
                             {0xb5, "u"},   {0xd7, "x"},   {0x2212, "-"}, {0x251c, "|"}, {0x2514, "`"}, {0x2502, "|"},
                             {0x2500, "-"}, {0x2581, "_"}, {0x2582, "."}, {0x2583, ":"}, {0x2584, "-"}, {0x2585, "="},
                             {0x2586, "+"}, {0x2587, "*"}, {0x2588, "#"}, {0xbb, ">"},   {0x2501, "="}, {0xb7, "|"}};
  std::string result;
  each_character(text, [&](const Character& character) {
    if (character.code < 0x80) {
      result += character.bytes;
      return;
    }
    const Sign* sign =
        std::find_if(std::begin(kSigns), std::end(kSigns), [&](const Sign& s) { return s.code == character.code; });
    result += sign != std::end(kSigns) ? std::string(sign->ascii) : std::string(character_width(character.code), '?');
  });
  return result;
}

std::string shorten_middle(std::string_view text, size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const size_t rest = columns - 1;
  return head(text, rest / 2) + "…" + tail(text, rest - rest / 2);
}

std::string shorten_path(std::string_view path_and_line, size_t columns) {
  if (display_width(path_and_line) <= columns) return std::string(path_and_line);
  // "…/" and as many of the last parts as fit; before them the first part of a relative path, if it fits too.
  size_t cut = std::string_view::npos;
  for (size_t slash = path_and_line.find('/'); slash != std::string_view::npos;
       slash = path_and_line.find('/', slash + 1)) {
    if (display_width(path_and_line.substr(slash)) + 1 <= columns) {
      cut = slash;
      break;
    }
  }
  if (cut == std::string_view::npos) {
    const std::string_view name = base_name_view(path_and_line);
    if (display_width(name) <= columns) return std::string(name);
    const size_t colon = name.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return shorten_middle(name, columns);
    const std::string_view line = name.substr(colon);  // a number: never cut
    const size_t room = columns > line.size() ? columns - line.size() : 0;
    return shorten_middle(name.substr(0, colon), std::max<size_t>(room, 1)) + std::string(line);
  }
  const std::string_view first = path_and_line.substr(0, path_and_line.find('/') + 1);
  const std::string shortened = "…" + std::string(path_and_line.substr(cut));
  const bool first_fits =
      first.size() > 1 && first != "../" && display_width(first) + display_width(shortened) <= columns;
  return first_fits ? std::string(first) + shortened : shortened;
}

namespace {

// The end of the word that begins there; a number and its unit are one ("1.68 s", "33.3 MiB").
size_t word_end(std::string_view text, size_t at) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "ns", "µs", "ms", "s", "min", "h", "%"};
  const size_t end = std::min(text.find(' ', at), text.size());
  if (end == text.size() || end == at || text[end - 1] < '0' || text[end - 1] > '9') return end;
  const size_t next = std::min(text.find(' ', end + 1), text.size());
  const std::string_view unit = text.substr(end + 1, std::min(text.find_first_of(",;:.)", end + 1), next) - end - 1);
  return std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits) ? end : next;
}

}  // namespace

std::string wrapped(std::string_view text, const Wrapping& wrapping) {
  std::string result;
  size_t used = wrapping.first;
  bool is_first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = word_end(text, at);
    const std::string_view word = text.substr(at, end - at);
    const size_t width = display_width(word);
    if (!is_first && used + 1 + width > wrapping.columns) {
      result += "\n" + std::string(wrapping.indent, ' ');
      used = wrapping.indent;
    } else if (!is_first) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    is_first = false;
    at = end + 1;
  }
  return result;
}

namespace {

// One character, or one escape sequence, which takes no columns.
struct Piece {
  std::string_view bytes;
  size_t width = 0;
};

Piece first_piece(std::string_view text) {
  if (text.starts_with("\x1b[")) return {text.substr(0, std::min(text.find('m'), text.size() - 1) + 1), 0};
  const Character character = first_character(text);
  return {character.bytes, character.code == kInvalid ? 1 : character_width(character.code)};
}

size_t painted_width(std::string_view text) {
  size_t width = 0;
  for (; !text.empty(); text.remove_prefix(first_piece(text).bytes.size())) width += first_piece(text).width;
  return width;
}

// A number and its unit are one word.
bool is_before_unit(std::string_view line, size_t blank) {
  const bool is_after_digit = blank > 0 && line[blank - 1] >= '0' && line[blank - 1] <= '9';
  return is_after_digit && blank + 1 < line.size() &&
         std::string_view("KMGTPEB%").find(line[blank + 1]) != std::string_view::npos;
}

// Where to break the line: at the last blank that fits, else at the first one after a word.
size_t break_of(std::string_view line, size_t columns) {
  size_t width = 0;
  size_t at = 0;
  size_t best = std::string_view::npos;
  bool has_word = false;
  while (at < line.size()) {
    const Piece piece = first_piece(line.substr(at));
    if (piece.bytes == " " && has_word && !is_before_unit(line, at)) {
      if (width <= columns || best == std::string_view::npos) best = at;
      if (width > columns) return best;
    }
    has_word = has_word || (piece.bytes != " " && piece.width > 0);
    width += piece.width;
    at += piece.bytes.size();
  }
  return width > columns ? best : std::string_view::npos;
}

}  // namespace

std::string fitted(std::string_view text, size_t columns) {
  std::string result;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    const bool is_ended = end < text.size();
    text.remove_prefix(is_ended ? end + 1 : end);
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string indent(std::min(begin + 2, columns / 2), ' ');
    while (line.size() > columns && painted_width(line) > columns) {
      const size_t at = break_of(line, columns);
      if (at == std::string::npos) break;
      const size_t last = line.find_last_not_of(' ', at);
      const size_t next = line.find_first_not_of(' ', at);
      if (next == std::string::npos) break;
      result += line.substr(0, last + 1) + "\n";
      line = indent + line.substr(next);
    }
    result += line;
    if (is_ended) result += '\n';
  }
  return result;
}

std::string command_line(std::string_view front, std::string_view call, std::string_view file, size_t columns) {
  const bool fits = display_width(front) + display_width(call) + 1 + display_width(file) <= columns;
  if (fits) return fmt::format("{}{} {}\n", front, call, file);
  return fmt::format("{}{} \\\n{}{}\n", front, call, std::string(std::min<size_t>(display_width(front), 4), ' '), file);
}

std::string shell_quoted_in_ascii(std::string_view word) {
  std::string text = "$'";
  for (const char c : word) {
    if (c == '\'' || c == '\\') {
      text += {'\\', c};
    } else if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return text + "'";
}

std::string shell_quoted(std::string_view word, std::string_view plain) {
  const auto is_plain = [plain](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./+:=,@%").find(c) != std::string_view::npos || plain.find(c) != std::string_view::npos;
  };
  const bool is_special = word.starts_with('~') || word.starts_with('#');  // a home folder, a comment
  if (!word.empty() && !is_special && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  return text + "'";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace heapprof::cli
