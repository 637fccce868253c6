// cli/model/compare/tolerance.cc: see tolerance.h.
#include "cli/model/compare/tolerance.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two integers

Wide allowed(uint64_t base, const Ratio& share, uint64_t slack) {
  return std::max<Wide>(Wide{base} * share.part / share.whole, slack);
}

}  // namespace

bool is_within(const Change& change, Metric metric, const Tolerance& tolerance) {
  return change.amount() <= allowed(change.base, tolerance.share, tolerance.slack(metric));
}

bool is_growth(const Change& change, Metric metric, const Tolerance& tolerance) {
  return change.is_growth() && !is_within(change, metric, tolerance);
}

uint64_t most_within(uint64_t base, Metric metric, const Tolerance& tolerance) {
  return most_within(base, tolerance.share, tolerance.slack(metric));
}

uint64_t most_within(uint64_t base, const Ratio& share, uint64_t slack) {
  return static_cast<uint64_t>(std::min<Wide>(base + allowed(base, share, slack), UINT64_MAX));
}

}  // namespace heapprof::cli
