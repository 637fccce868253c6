// cli/model/profile/frame_text.cc: the location is the text after the last " (", because C++ names are full of
// parentheses, and paths rarely have any. If a path has one, the writer notices that the text does not parse back to
// the frame, and also stores the frame's parts.
#include "cli/model/profile/frame_text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace heapprof::cli {
namespace {

constexpr std::string_view kUnknown = "???";

// Splits "name:12" into name and 12; leaves both unchanged if the text has another form.
bool cut_number(std::string_view* text, uint32_t* number) {
  const size_t colon = text->rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text->size()) return false;
  const char* first = text->data() + colon + 1;
  const char* last = text->data() + text->size();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return false;
  *number = value;
  text->remove_suffix(text->size() - colon);
  return true;
}

bool parse_source(std::string_view source, bool has_columns, ParsedFrame* frame) {
  if (source.starts_with("in ") && source.size() > 3) {
    frame->module = source.substr(3);
    return true;
  }
  uint32_t line = 0;
  if (!cut_number(&source, &line)) return false;
  if (has_columns) cut_number(&source, &line);
  frame->file = source;
  frame->line = line;
  return true;
}

}  // namespace

void append_frame_text(const Profile& profile, const Frame& frame, std::string* text) {
  if (frame.svma != 0) {
    char digits[16];
    char* first = std::end(digits);
    for (uint64_t rest = frame.svma; rest != 0; rest >>= 4) *--first = "0123456789ABCDEF"[rest & 15];
    text->append("0x").append(first, std::end(digits)).append(": ");
  }
  text->append(frame.function.empty() ? kUnknown : std::string_view(frame.function));
  if (!frame.file.empty()) {
    text->append(" (").append(frame.file).append(":").append(fmt::format_int(frame.line).c_str()).append(")");
  } else if (frame.module < profile.modules.size()) {
    text->append(" (in ").append(profile.modules[frame.module].path).append(")");
  }
}

std::string frame_text(const Profile& profile, const Frame& frame) {
  std::string text;
  append_frame_text(profile, frame, &text);
  return text;
}

ParsedFrame parse_frame_text(std::string_view text, bool has_columns) {
  ParsedFrame frame;
  if (text.starts_with("0x")) {
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), frame.svma, 16);
    const auto used = static_cast<size_t>(end - text.data());
    if (error == std::errc() && text.substr(used).starts_with(": ")) {
      text.remove_prefix(used + 2);
    } else {
      frame.svma = 0;
    }
  }
  const size_t open = text.rfind(" (");
  if (open != std::string_view::npos && open > 0 && text.ends_with(')')) {
    if (parse_source(text.substr(open + 2, text.size() - open - 3), has_columns, &frame)) text = text.substr(0, open);
  }
  if (text != kUnknown) frame.function = text;
  return frame;
}

}  // namespace heapprof::cli
