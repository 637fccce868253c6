// cli/model/profile/site_numbers.h: adding the numbers of sites.
//
// Guarantees
//  - Sums do not wrap: they stop at the largest number (a program with ten million live blocks for an hour reaches 2^64
//    ns).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// The sum of two sites. The maximum of a sum is not the sum of the maxima, which becomes an upper bound.
void add_numbers(SizedNumbers* sum, const SizedNumbers& more);

// Counts the profile's blocks by powers of four, because one of its parts has no finer sizes.
void coarsen_sizes(Profile* profile);

// Merges `from` into `into`. max_bytes becomes a bound, limited by device_peak_bytes, and is marked as one if both
// sites have a maximum.
void merge_site(Site* into, const Site& from, uint64_t device_peak_bytes);

}  // namespace heapprof::cli
