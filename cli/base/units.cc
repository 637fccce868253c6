// cli/base/units.cc: 128-bit integers keep every boundary exact up to 2^64 - 1.
#include "cli/base/units.h"

#include "cli/base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;

// part / whole in units of 10^-decimals, rounded half up. pre: whole > 0
uint64_t scaled(Wide part, Wide whole, int decimals) {
  for (int i = 0; i < decimals; ++i) part *= 10;
  return static_cast<uint64_t>((part * 2 + whole) / (whole * 2));
}

std::string decimal(uint64_t digits, int decimals) {
  if (decimals == 0) return std::to_string(digits);
  uint64_t power = 1;
  for (int i = 0; i < decimals; ++i) power *= 10;
  return fmt::format("{}.{:0{}}", digits / power, digits % power, decimals);
}

// Three significant digits of part / whole: two decimals if the rounded value is below 10, one below 100, none below
// `limit`. Empty: the value rounds to `limit` or more.
std::string three_digits(Wide part, Wide whole, uint64_t limit) {
  if (const uint64_t value = scaled(part, whole, 2); value < 1000) return decimal(value, 2);
  if (const uint64_t value = scaled(part, whole, 1); value < 1000) return decimal(value, 1);
  if (const uint64_t value = scaled(part, whole, 0); value < limit) return decimal(value, 0);
  return "";
}

constexpr std::array<const char*, 6> kIecUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr std::array<const char*, 6> kSiUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};

std::string three_digits_of_bytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  Wide unit = 1;
  for (const char* name : kIecUnits) {
    unit *= 1024;
    if (const std::string text = three_digits(bytes, unit, 1024); !text.empty()) return text + " " + name;
  }
  return format_bytes_exact(bytes);  // not reached: 2^64 - 1 is 16.0 EiB
}

}  // namespace

// UINT64_MAX is a saturated sum: the true value may be larger.
std::string format_bytes(uint64_t bytes) {
  return (bytes == UINT64_MAX ? "more than " : "") + three_digits_of_bytes(bytes);
}

std::string format_bytes_exact(uint64_t bytes) { return format_count_exact(bytes) + " B"; }

std::string format_count_exact(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string format_count(uint64_t count) {
  if (count < 1'000'000) return format_count_exact(count);
  Wide unit = 1000;
  for (const char* name : {"M", "G", "T", "P", "E"}) {
    unit *= 1000;
    if (const std::string text = three_digits(count, unit, 1000); !text.empty()) return text + " " + name;
  }
  return format_count_exact(count);  // not reached
}

std::string format_average(Ratio ratio) {
  if (ratio.part == 0 || ratio.whole == 0) return "0";
  if (ratio.part % ratio.whole == 0 || ratio.part / ratio.whole >= 1'000)
    return format_count(scaled(ratio.part, ratio.whole, 0));
  const std::string text = three_digits(ratio.part, ratio.whole, 1'001);
  return text == "0.00" ? "<0.01" : text;
}

std::string format_counted(uint64_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  constexpr std::string_view kVowels = "aeiou";
  const size_t y = noun.ends_with('y') ? noun.size() - 1 : 0;
  if (y != 0 && kVowels.find(noun[y - 1]) == std::string_view::npos)
    return fmt::format("{} {}ies", format_count(count), noun.substr(0, y));
  return fmt::format("{} {}{}", format_count(count), noun, noun.ends_with('s') ? "es" : "s");
}

std::string format_time(uint64_t time_ns) {
  if (time_ns < 1'000) return fmt::format("{} ns", time_ns);
  if (const uint64_t us = scaled(time_ns, 1'000, 0); us < 1'000) return fmt::format("{} µs", us);
  const uint64_t ms = scaled(time_ns, 1'000'000, 0);
  if (ms < 1'000) return fmt::format("{} ms", ms);
  return fmt::format("{}.{:03} s", format_count_exact(ms / 1'000), ms % 1'000);
}

std::string format_duration(uint64_t duration_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  if (scaled(duration_ns, 1'000'000, 0) < 1'000) return format_time(duration_ns);
  const uint64_t seconds = scaled(duration_ns, kSecond, 0);
  if (seconds < 600) return three_digits(duration_ns, kSecond, 1000) + " s";
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", format_count_exact(seconds / 3600), seconds % 3600 / 60);
}

std::string format_percent(Ratio ratio) {
  if (ratio.part == 0 || ratio.whole == 0) return "0 %";
  if (ratio.part == ratio.whole) return "100 %";
  const uint64_t tenths = scaled(Wide{ratio.part} * 100, ratio.whole, 1);
  if (tenths == 0) return "<0.1 %";
  if (tenths == 1000) return ratio.part < ratio.whole ? ">99.9 %" : "100 %";
  return decimal(tenths, 1) + " %";
}

std::string format_percent_rounded(Ratio ratio) {
  if (ratio.part == 0 || ratio.whole == 0) return "0 %";
  if (ratio.part == ratio.whole) return "100 %";
  const uint64_t percent = scaled(Wide{ratio.part} * 100, ratio.whole, 0);
  if (percent == 0) return "<1 %";
  if (percent == 100 && ratio.part < ratio.whole) return ">99 %";
  return fmt::format("{} %", percent);
}

namespace {

std::string with_sign(const Change& change, const std::string& amount) {
  if (change.amount() == 0) return "±0";
  return (change.is_growth() ? "+" : "−") + amount;
}

// "new" or "gone" for a change that has no percentage and no factor; empty for other changes.
std::string without_base(const Change& change) {
  if (change.base == 0 && change.current > 0) return "new";
  return change.base > 0 && change.current == 0 ? "gone" : "";
}

}  // namespace

std::string format_change_bytes(const Change& change) {
  return with_sign(change, three_digits_of_bytes(change.amount()));
}

std::string format_change_bytes_exact(const Change& change) {
  return with_sign(change, format_bytes_exact(change.amount()));
}

std::string format_change_count(const Change& change) { return with_sign(change, format_count(change.amount())); }

std::string format_change_percent(const Change& change) {
  if (change.amount() == 0) return "0 %";
  if (std::string word = without_base(change); !word.empty()) return word;
  constexpr uint64_t kLeastFactor = 1'000;  // above it a percentage is hard to read
  if (change.current / kLeastFactor >= change.base) return "×" + format_count(scaled(change.current, change.base, 0));
  const Wide percent = Wide{change.amount()} * 100;
  if (const uint64_t tenths = scaled(percent, change.base, 1); tenths < 10'000)
    return tenths == 0 ? "<0.1 %" : with_sign(change, decimal(tenths, 1) + " %");
  return with_sign(change, format_count(scaled(percent, change.base, 0)) + " %");
}

std::string format_factor(const Change& change) {
  if (change.base == change.current) return "1.00×";
  if (std::string word = without_base(change); !word.empty()) return word;
  // A factor of a tenth or more reads best as a decimal number, a smaller one as a fraction: 1/348.
  if (!change.is_growth() && change.base / 10 < change.current)
    return three_digits(change.current, change.base, 10) + "×";
  const uint64_t larger = std::max(change.base, change.current);
  const uint64_t smaller = std::min(change.base, change.current);
  std::string factor = three_digits(larger, smaller, 1000);
  if (factor.empty()) factor = format_count(scaled(larger, smaller, 0));
  return (change.is_growth() ? "" : "1/") + factor + "×";
}

std::optional<uint64_t> parse_duration(std::string_view text, DurationRange range) {
  constexpr std::array<std::pair<std::string_view, uint64_t>, 4> kTimeUnits = {
      {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}, {"h", 3'600'000'000'000}}};
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  for (const auto& [unit, unit_ns] : kTimeUnits) {
    if (std::string_view(after, static_cast<size_t>(end - after)) != unit) continue;
    if (number <= range.longest_ns / unit_ns && number * unit_ns >= range.shortest_ns) return number * unit_ns;
  }
  return std::nullopt;
}

std::optional<Ratio> parse_percent(std::string_view text) {
  constexpr size_t kMostDigits = 12;
  constexpr size_t kMostDecimals = 6;
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  if (text.ends_with(' ')) text.remove_suffix(1);
  const size_t point = text.find('.');
  const size_t decimals = point == std::string_view::npos ? 0 : text.size() - point - 1;
  if (text.empty() || text.size() > kMostDigits || decimals > kMostDecimals || point == 0 || text.ends_with('.'))
    return std::nullopt;
  Ratio ratio{0, 100};
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    ratio.part = ratio.part * 10 + static_cast<uint64_t>(text[i] - '0');
    if (point != std::string_view::npos && i > point) ratio.whole *= 10;
  }
  return ratio;
}

namespace {

struct Unit {
  uint64_t bytes = 0;  // 0: no such unit
  bool ambiguous = false;
  size_t power = 0;  // of an ambiguous unit: index into the tables
};

Unit find_unit(std::string_view name) {
  if (name.empty() || name == "B") return {1};
  uint64_t iec = 1;
  uint64_t si = 1;
  for (size_t i = 0; i < kIecUnits.size(); ++i) {
    iec *= 1024;
    si *= 1000;
    if (name == kIecUnits[i]) return {iec};
    if (name == kSiUnits[i]) return {si};
    // "512M", "512m", "512K", "512k": Linux tools read these in both ways.
    if (name.size() == 1 && std::toupper(static_cast<unsigned char>(name[0])) == kIecUnits[i][0]) return {iec, true, i};
  }
  return {};
}

// digits[.digits] times unit, rounded down; false if it is malformed or does not fit in 64 bits.
bool scale(std::string_view number, uint64_t unit, uint64_t* bytes) {
  // A 64-bit value times a unit is below this number. So if the divisor is as large, the result is 0, and a larger
  // divisor changes nothing.
  constexpr Wide kMostDivisor = Wide{1'000'000'000'000'000'000} * 1'000'000'000'000'000'000 * 100;
  Wide value = 0;
  Wide divisor = 1;
  bool fraction = false;
  bool digit_seen = false;
  for (const char c : number) {
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      digit_seen = true;
      if (value > std::numeric_limits<uint64_t>::max()) return false;
      value = value * 10 + static_cast<Wide>(c - '0');
      if (fraction && divisor < kMostDivisor) divisor *= 10;
    } else {
      return false;
    }
  }
  if (!digit_seen || number.back() == '.' || value > std::numeric_limits<uint64_t>::max()) return false;
  const Wide result = value * unit / divisor;
  if (result > std::numeric_limits<uint64_t>::max()) return false;
  *bytes = static_cast<uint64_t>(result);
  return true;
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  const size_t number_end = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, number_end);
  std::string_view name = number_end == std::string_view::npos ? std::string_view{} : text.substr(number_end);
  if (name.size() > 1 && name.front() == ' ') name.remove_prefix(1);
  const Unit unit = find_unit(name);
  uint64_t bytes = 0;
  if (number.empty() || unit.bytes == 0 || !scale(number, unit.bytes, &bytes)) return bad_size(std::string(text));
  if (!unit.ambiguous) return bytes;
  uint64_t si_unit = 1;
  for (size_t i = 0; i <= unit.power; ++i) si_unit *= 1000;
  uint64_t si_bytes = 0;
  if (!scale(number, si_unit, &si_bytes)) return bad_size(std::string(text));
  return ambiguous_size(std::string(text),
                        fmt::format("{0}{1} ({2}) or {0}{3} ({4})", number, kIecUnits[unit.power],
                                    format_count_exact(bytes), kSiUnits[unit.power], format_count_exact(si_bytes)));
}

}  // namespace heapprof::cli
