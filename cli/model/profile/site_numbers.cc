// cli/model/profile/site_numbers.cc: at no moment can the live bytes of a site, or of merged sites, exceed the
// device's. So if many maxima are summed, the device's peak is a better bound than their sum.
#include "cli/model/profile/site_numbers.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/site_fields.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {
namespace {

// The facts about two sites that decide how their numbers are combined.
struct Parts {
  const SizedNumbers& more;
  bool had_leaks;
  bool has_leaks;
  bool had_blocks;
  bool has_blocks;
  bool are_sizes_known;

  uint64_t among_sizes(uint64_t a, uint64_t b, uint64_t chosen) const {
    return !are_sizes_known ? 0 : !has_blocks ? a : !had_blocks ? b : chosen;
  }
};

template <size_t kAt>
void add_field(const Parts& parts, SizedNumbers* sum) {
  constexpr const SiteField& kField = kSiteFields[kAt];
  uint64_t& into = sum->*kField.number;
  const uint64_t value = parts.more.*kField.number;
  switch (kField.adds) {
    case SiteField::Adds::kSum: add_to(&into, value); break;
    case SiteField::Adds::kOldest:
      if (parts.has_leaks) into = parts.had_leaks ? std::min(into, value) : value;
      break;
    case SiteField::Adds::kYoungest:
      if (parts.has_leaks) into = parts.had_leaks ? std::max(into, value) : value;
      break;
    case SiteField::Adds::kSmallest: into = parts.among_sizes(into, value, std::min(into, value)); break;
    case SiteField::Adds::kLargest: into = parts.among_sizes(into, value, std::max(into, value)); break;
  }
}

// The list of fields is unrolled at compile time: this runs for every site, several times at a run's end.
template <size_t... kAt>
void add_fields(const Parts& parts, SizedNumbers* sum, std::index_sequence<kAt...>) {
  (add_field<kAt>(parts, sum), ...);
}

}  // namespace

void add_numbers(SizedNumbers* sum, const SizedNumbers& more) {
  const bool had_blocks = sum->total_blocks > 0;
  const bool has_blocks = more.total_blocks > 0;
  const Parts parts = {more,
                       sum->leaked_blocks > 0,
                       more.leaked_blocks > 0,
                       had_blocks,
                       has_blocks,
                       (!had_blocks || has_sizes(*sum)) && (!has_blocks || has_sizes(more))};
  add_fields(parts, sum, std::make_index_sequence<kSiteFields.size()>());
  more.sizes.for_each_used(
      [sum](int bucket, uint64_t blocks) { sum->sizes.set(bucket, add_saturating(sum->sizes[bucket], blocks)); });
}

void coarsen_sizes(Profile* profile) {
  for (Device& device : profile->devices) {
    for (Site& site : device.sites) {
      SizeHistogram& sizes = site.numbers.sizes;
      for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
        const int coarse = bucket_of_coarse(coarse_of_bucket(bucket));
        if (coarse == bucket || sizes[bucket] == 0) continue;
        sizes.set(coarse, add_saturating(sizes[coarse], sizes[bucket]));
        sizes.set(bucket, 0);
      }
    }
  }
  profile->has_coarse_sizes = true;
}

void merge_site(Site* into, const Site& from, uint64_t device_peak_bytes) {
  SizedNumbers& sum = into->numbers;
  for (const SiteFlag& it : kSiteFlags) into->*it.flag = into->*it.flag || from.*it.flag;
  into->max_is_bound = into->max_is_bound || (sum.max_bytes > 0 && from.numbers.max_bytes > 0);
  add_to(&into->grouped_stacks, from.grouped_stacks);
  add_numbers(&sum, from.numbers);
  if (into->live_bytes.size() < from.live_bytes.size()) into->live_bytes.resize(from.live_bytes.size());
  for (size_t i = 0; i < from.live_bytes.size(); ++i) add_to(&into->live_bytes[i], from.live_bytes[i]);
  add_steps(&into->steps, from.steps);
  add_stays(&into->stays, from.stays);
  add_spread(&into->spread, from.spread);
  // Other tools' files define the maximum differently, so it is raised to at least what was live at the peak and at the
  // end.
  sum.max_bytes = std::max(std::min(sum.max_bytes, device_peak_bytes), std::max(sum.peak_bytes, sum.leaked_bytes));
}

}  // namespace heapprof::cli
