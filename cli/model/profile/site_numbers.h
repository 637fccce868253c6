// cli/model/profile/site_numbers.h: adds the numbers of sites.
//
// Guarantees
//  - Sums saturate at the largest number (a program with ten million live blocks for an hour reaches 2^64 ns).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// Adds `more` to `sum`. The sum of two maxima is only an upper bound of the sum's maximum.
void add_numbers(SizedNumbers* sum, const SizedNumbers& more);

// Merges the profile's size buckets into classes of powers of four, because one of its parts has no finer sizes.
void coarsen_sizes(Profile* profile);

// Merges `from` into `into`. If both sites have a maximum, max_bytes becomes an upper bound, limited by
// device_peak_bytes, and is marked as one.
void merge_site(Site* into, const Site& from, uint64_t device_peak_bytes);

}  // namespace heapprof::cli
