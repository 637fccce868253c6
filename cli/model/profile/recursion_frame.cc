// cli/model/profile/recursion_frame.cc: names contain commas and brackets, so the number is searched from the end.
#include "cli/model/profile/recursion_frame.h"

#include <fmt/format.h>

#include <charconv>

namespace heapprof::cli {
namespace {

constexpr std::string_view kFrom = "[recursion from ";
constexpr std::string_view kUpTo = ", up to ";
constexpr std::string_view kFrames = " frames]";

// Where ", up to 20000" begins; npos: not such a text.
size_t find_number(std::string_view text) {
  if (!text.starts_with(kFrom)) return std::string_view::npos;
  const size_t end = text.rfind(kFrames);
  return end == std::string_view::npos ? end : text.rfind(kUpTo, end);
}

}  // namespace

std::string recursion_text(std::string_view function, uint32_t frames) {
  return fmt::format("{}{}{}{}{}", kFrom, function, kUpTo, frames, kFrames);
}

std::string_view function_of_recursion(std::string_view function) {
  const size_t number = find_number(function);
  return number == std::string_view::npos ? function : function.substr(0, number).substr(kFrom.size());
}

std::string without_recursion_frames(std::string text) {
  const size_t number = find_number(text);
  if (number == std::string::npos) return text;
  const std::string_view whole = text;
  return fmt::format("{}]{}", whole.substr(0, number), whole.substr(whole.rfind(kFrames) + kFrames.size()));
}

uint64_t recursion_frames(std::string_view text) {
  uint64_t frames = 0;
  const size_t number = find_number(text);
  if (number == std::string_view::npos) return 0;
  const char* first = text.data() + number + kUpTo.size();
  return std::from_chars(first, text.data() + text.size(), frames).ec == std::errc() ? frames : 0;
}

}  // namespace heapprof::cli
