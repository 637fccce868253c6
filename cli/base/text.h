// cli/base/text.h: text on a terminal: its width, shortening, and escaping.
//
// Trust:    names and paths are untrusted: escape_controls makes them harmless; every function here takes any bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace heapprof::cli {

// For ASCII only, in any locale.
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
// Without leading and trailing blanks.
std::string_view trimmed(std::string_view text);

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
// Empty prefixes never match.
template <size_t N>
bool starts_with_one_of(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  if (name.empty()) return false;
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) {  // usually the first letter differs
                       return !prefix.empty() && name[0] == prefix[0] && name.starts_with(prefix);
                     });
}

// Control characters, text-direction overrides and bytes that are no UTF-8 become \x1b, \u202e, \xff.
std::string escape_controls(std::string_view text);
// Whether it is all printable ASCII, as nearly all names are: then nothing needs escaping.
bool is_printable_ascii(std::string_view text);

// How many characters have to be added, removed or replaced to turn one into the other.
// Cost:     the product of their lengths.
size_t edit_distance(std::string_view a, std::string_view b);

// The number of columns: combining marks take none, East Asian wide characters and emoji two.
size_t display_width(std::string_view text);

std::string pad_left(std::string_view text, size_t columns);   // right-aligned
std::string pad_right(std::string_view text, size_t columns);  // left-aligned

// The text in ASCII, for locales without UTF-8: our own signs get replacements, other characters become '?'.
std::string to_ascii(std::string_view text);

// The following return text of at most `columns` columns, with "…" for what was left out. Numbers are never cut.
std::string shorten_middle(std::string_view text, size_t columns);
std::string shorten_path(std::string_view path_and_line,
                         size_t columns);  // "a/…/c.cc:12": the file's name and line stay

// The words of the text, broken at blanks: the first line begins at column `first`, the others at `indent`. A word
// wider than a line gets its own line; a number and its unit are one word.
struct Wrapping {
  size_t first = 0;
  size_t indent = 0;
  size_t columns = 80;
};
std::string wrapped(std::string_view text, const Wrapping& wrapping);

// The text with no line wider than `columns`, as far as words allow. Wider lines are broken at the last blank that
// fits, and continue below, indented by two more columns. Colours take no columns.
std::string fitted(std::string_view text, size_t columns);

// A command that can be pasted, after a leading word: "next heapprof report x.json". If that is wider than `columns`,
// the file goes on its own line, after a backslash.
std::string command_line(std::string_view front, std::string_view call, std::string_view file, size_t columns);

// Returns the word in a form that a shell reads back as one word. The word is quoted unless it has only letters,
// digits, _-./+:=,@% and the characters of `plain`.
std::string shell_quoted(std::string_view word, std::string_view plain = "");
// The same in ASCII without control characters: in the form $'…', which bash, zsh and ksh understand.
std::string shell_quoted_in_ascii(std::string_view word);

}  // namespace heapprof::cli
