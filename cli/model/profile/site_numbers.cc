// cli/model/profile/site_numbers.cc: no site's live bytes can exceed the device's at any moment, so neither can a
// merged one's: the device's peak is the better bound where many maxima are summed.
#include "cli/model/profile/site_numbers.h"

#include "cli/model/profile/site_fields.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

void add(uint64_t* sum, uint64_t value) { *sum = add_saturating(*sum, value); }

}  // namespace

uint64_t add_saturating(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void add_numbers(SizedNumbers* sum, const SizedNumbers& more) {
  const bool had_leaks = sum->leaked_blocks > 0;
  const bool has_leaks = more.leaked_blocks > 0;
  const bool had_blocks = sum->total_blocks > 0;
  const bool has_blocks = more.total_blocks > 0;
  const bool are_sizes_known = (!had_blocks || has_sizes(*sum)) && (!has_blocks || has_sizes(more));
  const auto among_sizes = [&](uint64_t a, uint64_t b, uint64_t chosen) {
    return !are_sizes_known ? 0 : !has_blocks ? a : !had_blocks ? b : chosen;
  };
  for (const SiteField& field : kSiteFields) {
    uint64_t& into = sum->*field.number;
    const uint64_t value = more.*field.number;
    switch (field.adds) {
      case SiteField::Adds::kSum: add(&into, value); break;
      case SiteField::Adds::kOldest:
        if (has_leaks) into = had_leaks ? std::min(into, value) : value;
        break;
      case SiteField::Adds::kYoungest:
        if (has_leaks) into = had_leaks ? std::max(into, value) : value;
        break;
      case SiteField::Adds::kSmallest: into = among_sizes(into, value, std::min(into, value)); break;
      case SiteField::Adds::kLargest: into = among_sizes(into, value, std::max(into, value)); break;
    }
  }
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
    if (more.sizes[bucket] != 0) sum->sizes.set(bucket, add_saturating(sum->sizes[bucket], more.sizes[bucket]));
  }
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
  add(&into->grouped_stacks, from.grouped_stacks);
  add_numbers(&sum, from.numbers);
  if (into->live_bytes.size() < from.live_bytes.size()) into->live_bytes.resize(from.live_bytes.size());
  for (size_t i = 0; i < from.live_bytes.size(); ++i) add(&into->live_bytes[i], from.live_bytes[i]);
  // Foreign files have their own idea of a maximum: never fall below what was live at the peak.
  sum.max_bytes = std::max(std::min(sum.max_bytes, device_peak_bytes), std::max(sum.peak_bytes, sum.leaked_bytes));
}

}  // namespace heapprof::cli
