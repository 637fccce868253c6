// heapprof/size.hpp: sizes as people write them ("64 MiB", "10kB", "1.5 GiB", "4096"), read strictly, and written.
//
// Header only, C++17, works without heapprof: nothing to link.
//
//   static_assert(heapprof::parse_size("64 MiB").bytes == 64 << 20);
//
// Guarantees
//  - The grammar is that of the tool's flags (heapprof check --max-peak): a decimal number, at most one space, and B,
//    KiB … EiB or kB … EB; a bare number is bytes. Fractions of a byte are dropped. "64M", which tools read in two
//    ways, is refused, and so is a size that does not fit in 64 bits. tests/unit/public_headers/size_test.cc compares
//    both parsers.
//  - Parsing is constexpr, without floating point.
#ifndef HEAPPROF_SIZE_HPP
#define HEAPPROF_SIZE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace heapprof {

enum class SizeFault : std::uint8_t {
  kNone,
  kMalformed,  // not a size, or one that does not fit in 64 bits
  kAmbiguous,  // "64M": MiB or MB
};

struct ParsedSize {
  std::uint64_t bytes = 0;
  SizeFault fault = SizeFault::kNone;  // if not kNone, bytes is 0

  constexpr explicit operator bool() const { return fault == SizeFault::kNone; }
};

namespace detail {

__extension__ using Wide = unsigned __int128;

// digits[.digits] times unit, rounded down; false if it is malformed or does not fit.
constexpr bool scale(std::string_view number, std::uint64_t unit, std::uint64_t* bytes) {
  // value * unit is below this limit, so a divisor that has reached it makes the result 0.
  constexpr Wide kMostDivisor = Wide{1'000'000'000'000'000'000u} * 1'000'000'000'000'000'000u * 100;
  Wide value = 0;
  Wide divisor = 1;
  bool is_fraction = false;
  if (number.empty() || number == "." || number.back() == '.') return false;
  for (const char c : number) {
    if (c == '.') {
      if (is_fraction) return false;
      is_fraction = true;
      continue;
    }
    if (c < '0' || c > '9' || value > UINT64_MAX) return false;
    value = value * 10 + static_cast<Wide>(c - '0');
    if (is_fraction && divisor < kMostDivisor) divisor *= 10;
  }
  if (value > UINT64_MAX) return false;
  const Wide result = value * unit / divisor;
  if (result > UINT64_MAX) return false;
  *bytes = static_cast<std::uint64_t>(result);
  return true;
}

// 1024 or 1000, to the power of 1 to 6.
constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

constexpr char kPrefixes[] = "KMGTPE";

// The bytes of a unit; 0: no unit has that name. *is_ambiguous: the name may also mean a power of 1000.
constexpr std::uint64_t unit_bytes(std::string_view name, bool* is_ambiguous) {
  if (name.empty() || name == "B") return 1;
  for (std::size_t i = 0; i < 6; ++i) {
    const char upper = kPrefixes[i];
    const char lower = static_cast<char>(upper - 'A' + 'a');
    const bool is_alone = name.size() == 1;
    if (is_alone && (name[0] == upper || name[0] == lower)) {
      *is_ambiguous = true;
      return power(1024, i + 1);
    }
    if (name.size() == 3 && name[0] == upper && name[1] == 'i' && name[2] == 'B') return power(1024, i + 1);
    if (name.size() == 2 && name[0] == (i == 0 ? 'k' : upper) && name[1] == 'B') return power(1000, i + 1);
  }
  return 0;
}

}  // namespace detail

constexpr ParsedSize parse_size(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.')) ++end;
  const std::string_view number = text.substr(0, end);
  std::string_view name = text.substr(end);
  if (name.size() > 1 && name[0] == ' ') name.remove_prefix(1);
  bool is_ambiguous = false;
  const std::uint64_t unit = detail::unit_bytes(name, &is_ambiguous);
  ParsedSize result;
  if (unit == 0 || !detail::scale(number, unit, &result.bytes)) return {0, SizeFault::kMalformed};
  if (is_ambiguous) return {0, SizeFault::kAmbiguous};
  return result;
}

// 0 B, 17 B, 1010 KiB, 1.92 GiB: three digits, rounded, as heapprof writes them.
inline std::string format_size(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  for (std::size_t exponent = 1;; ++exponent) {
    const std::uint64_t unit = detail::power(1024, exponent);
    const std::string name = std::string(" ") + detail::kPrefixes[exponent - 1] + "iB";
    const auto rounded = [&](unsigned parts) {
      return static_cast<std::uint64_t>((detail::Wide{bytes} * parts * 2 + unit) / 2 / unit);
    };
    const auto with_point = [](std::uint64_t number, std::uint64_t parts) {
      const std::string behind = std::to_string(number % parts + parts).substr(1);
      return std::to_string(number / parts) + "." + behind;
    };
    if (rounded(100) < 1000) return with_point(rounded(100), 100) + name;
    if (rounded(10) < 1000) return with_point(rounded(10), 10) + name;
    if (rounded(1) < 1024 || exponent == 6) return std::to_string(rounded(1)) + name;
  }
}

// 18,400,123
inline std::string format_exact(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

// A size as an argument: text, or any integer of bytes. An error shows only in parsed().
class Size {
 public:
  constexpr Size(const char* text) : Size(std::string_view(text)) {}
  constexpr Size(std::string_view text) : text_(text), parsed_(parse_size(text)) {}
  Size(const std::string& text) : Size(std::string_view(text)) {}
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>, int> = 0>
  constexpr Size(Integer bytes) : parsed_{static_cast<std::uint64_t>(bytes), SizeFault::kNone} {
    if constexpr (std::is_signed_v<Integer>) {
      if (bytes < 0) parsed_ = {0, SizeFault::kMalformed};
    }
  }

  constexpr ParsedSize parsed() const { return parsed_; }
  constexpr std::string_view text() const { return text_; }  // valid as long as its source; empty for an integer

 private:
  std::string_view text_;
  ParsedSize parsed_;
};

}  // namespace heapprof

#endif  // HEAPPROF_SIZE_HPP
