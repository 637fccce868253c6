// cli/base/units.h: formats numbers for people, and parses sizes. Every view uses this formatter.
//
// Guarantees
//  - Bytes are IEC only (1 KiB = 1024 B), three significant digits, rounded half up in integers: no double is involved.
//  - A value that rounds to 1024 of a unit is written as 1.00 of the next.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapprof::cli {

// A part and its whole: named, so that the two integers cannot be swapped by accident.
struct Ratio {
  uint64_t part = 0;
  uint64_t whole = 0;
};

// A number before and after.
struct Change {
  uint64_t base = 0;
  uint64_t current = 0;

  bool is_growth() const { return current > base; }
  uint64_t amount() const { return current > base ? current - base : base - current; }
};

std::string format_bytes(uint64_t bytes);        // 1.92 GiB, 402 MiB, 17 B; UINT64_MAX: more than 16.0 EiB
std::string format_bytes_exact(uint64_t bytes);  // 2,061,584,302 B
std::string format_count(uint64_t count);        // exact below 10^6, then 18.4 M
std::string format_count_exact(uint64_t count);  // 18,400,123
std::string format_average(Ratio ratio);         // 17, 1.53, 17.2; <0.01; 0 if either number is 0
// A count with its noun: 1 block, 2 blocks, 3 entries, 18.4 M processes. noun: in the singular.
std::string format_counted(uint64_t count, std::string_view noun);
std::string format_time(uint64_t time_ns);          // a moment: 18.204 s, 812 ms, 17 µs
std::string format_duration(uint64_t duration_ns);  // a length: 41.8 s, 12 min 4 s
std::string format_percent(Ratio ratio);            // 63.0 %, <0.1 %, 100 %
std::string format_percent_rounded(Ratio ratio);    // 61 %, <1 %

// Always with a sign: +215 MiB, −1.20 MiB, ±0; +2,104.
std::string format_change_bytes(const Change& change);
std::string format_change_bytes_exact(const Change& change);
std::string format_change_count(const Change& change);
std::string format_change_percent(
    const Change& change);                        // of the base: +12.3 %, −4.0 %, <0.1 %, 0 %, new, gone, ×13,000
std::string format_factor(const Change& change);  // 1.20×, 348×, 0.50×, 1/348×, new, gone

// "3 %", "0.5%": a decimal number from 0 and a percent sign. Nothing if the text has another form, or more than six
// decimals.
std::optional<Ratio> parse_percent(std::string_view text);

// "250ms", "5s", "2min", "1h" in nanoseconds; nothing if the text has another form, or is not within `shortest_ns` to
// `longest_ns`.
struct DurationRange {
  uint64_t shortest_ns = 0;
  uint64_t longest_ns = 0;
};
std::optional<uint64_t> parse_duration(std::string_view text, DurationRange range);

// Parses a number, which may have a decimal fraction, and a unit: B, KiB … EiB or kB … EB, with or without a space
// between them. A number without a unit is bytes; K, M and G alone are refused.
Result<uint64_t> parse_size(std::string_view text);

}  // namespace heapprof::cli
