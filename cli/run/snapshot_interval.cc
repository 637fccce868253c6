// cli/run/snapshot_interval.cc: see snapshot_interval.h.
#include "cli/run/snapshot_interval.h"

#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/model/profile/snapshots.h"

#include <string>

namespace heapprof::cli {

Result<uint64_t> parse_snapshot_interval(std::string_view text) {
  constexpr DurationRange kRange = {10'000'000, uint64_t{86'400} * 1'000'000'000};
  if (text == "marks") return kMarksOnly;
  if (const std::optional<uint64_t> interval_ns = parse_duration(text, kRange)) return *interval_ns;
  return bad_interval(std::string(text));
}

}  // namespace heapprof::cli
