// cli/run/snapshot_interval.cc: see snapshot_interval.h.
#include "cli/run/snapshot_interval.h"

#include "cli/base/problems.h"
#include "cli/model/profile/snapshots.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kShortestNs = 10'000'000;
constexpr uint64_t kLongestNs = uint64_t{86'400} * 1'000'000'000;
constexpr std::array<std::pair<std::string_view, uint64_t>, 4> kUnits = {
    {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}, {"h", 3'600'000'000'000}}};

}  // namespace

Result<uint64_t> parse_snapshot_interval(std::string_view text) {
  if (text == "marks") return kMarksOnly;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  for (const auto& [unit, unit_ns] : kUnits) {
    if (error != std::errc{} || std::string_view(after, static_cast<size_t>(end - after)) != unit) continue;
    if (number <= kLongestNs / unit_ns && number * unit_ns >= kShortestNs) return number * unit_ns;
  }
  return bad_interval(std::string(text));
}

}  // namespace heapprof::cli
