// cli/model/profile/site_numbers.cc: no site's live bytes can exceed the device's at any moment, so neither can a
// merged one's: the device's peak is the better bound where many maxima are summed.
#include "cli/model/profile/site_numbers.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

void add(uint64_t* sum, uint64_t value) { *sum = add_saturating(*sum, value); }

void merge_leak_times(SiteNumbers* into, const SiteNumbers& from) {
  if (from.leaked_blocks == 0) return;
  const bool is_first = into->leaked_blocks == 0;
  into->first_leak_ns = is_first ? from.first_leak_ns : std::min(into->first_leak_ns, from.first_leak_ns);
  into->last_leak_ns = is_first ? from.last_leak_ns : std::max(into->last_leak_ns, from.last_leak_ns);
}

}  // namespace

uint64_t add_saturating(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void merge_site(Site* into, const Site& from, uint64_t device_peak_bytes) {
  SiteNumbers& sum = into->numbers;
  const SiteNumbers& other = from.numbers;
  into->max_is_bound = into->max_is_bound || from.max_is_bound || (sum.max_bytes > 0 && other.max_bytes > 0);
  into->truncated = into->truncated || from.truncated;
  add(&into->grouped_stacks, from.grouped_stacks);
  merge_leak_times(&sum, other);
  add(&sum.total_bytes, other.total_bytes);
  add(&sum.total_blocks, other.total_blocks);
  add(&sum.max_bytes, other.max_bytes);
  add(&sum.max_blocks, other.max_blocks);
  add(&sum.peak_bytes, other.peak_bytes);
  add(&sum.peak_blocks, other.peak_blocks);
  add(&sum.leaked_bytes, other.leaked_bytes);
  add(&sum.leaked_blocks, other.leaked_blocks);
  add(&sum.temporary_blocks, other.temporary_blocks);
  add(&sum.lifetime_ns, other.lifetime_ns);
  for (size_t i = 0; i < sum.sizes.size(); ++i) add(&sum.sizes[i], other.sizes[i]);
  add(&sum.resized_blocks, other.resized_blocks);
  add(&sum.moved_bytes, other.moved_bytes);
  if (into->live_bytes.size() < from.live_bytes.size()) into->live_bytes.resize(from.live_bytes.size());
  for (size_t i = 0; i < from.live_bytes.size(); ++i) add(&into->live_bytes[i], from.live_bytes[i]);
  // Foreign files have their own idea of a maximum: never fall below what was live at the peak.
  sum.max_bytes = std::max(std::min(sum.max_bytes, device_peak_bytes), std::max(sum.peak_bytes, sum.leaked_bytes));
}

}  // namespace heapprof::cli
