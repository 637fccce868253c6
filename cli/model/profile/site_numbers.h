// cli/model/profile/site_numbers.h: adding the numbers of sites.
//
// Guarantees
//  - Sums do not wrap: they stop at the largest number (a program with ten million live blocks for an hour reaches 2^64
//    ns).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// What two sites have together. The maximum of a sum is not the sum of maxima: those become upper bounds.
void add_numbers(SizedNumbers* sum, const SizedNumbers& more);

// Counts the profile's blocks by powers of four, as one of its parts does that does not know better.
void coarsen_sizes(Profile* profile);

// `into` stands for both from now on. max_bytes becomes a bound, which device_peak_bytes limits, and is marked so where
// both sites have one.
void merge_site(Site* into, const Site& from, uint64_t device_peak_bytes);

}  // namespace heapprof::cli
