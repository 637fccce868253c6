// cli/write/report/ranks_text.h: a merged profile's ranks: who had how much where, and how a place differs among them.
//
// Guarantees
//  - No line is wider than `columns`, from 80 on; in narrower ones rows are as in the narrowest that hold them.
//  - All are empty where the profile has no ranks.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct RanksLook {
  size_t rows = 10;
  bool exact_bytes = false;
  size_t columns = 80;
};

struct RankRows {
  std::string rows;
  std::string remark;  // "64 ranks of Slurm on 4 hosts, top 10 of 128"
};
// A line for each rank and device, the largest peak first: rank, host, card, device, peak, and its largest place.
RankRows rank_rows(const Profile& profile, const RanksLook& look);

// How the merged processes ended: "all exit 0    "; empty where that is not known.
std::string ends_text(const Profile& profile);

// How the bytes at the peak of a place's largest site differ among the processes that have it: "in 62 of 64 ranks, 1.20
// MiB to 3.40 MiB, average 2.00 MiB, most in rank 17".
std::string spread_text(const Profile& profile, const Device& device, const Place& place, bool exact_bytes);

// The place's site with the most at the peak whose spread is known; none: there is none.
std::optional<uint32_t> largest_spread_site(const Device& device, const Place& place);
// The input's first entry. pre: the profile has it
const MergedPart& part_of_input(const Profile& profile, uint32_t input);

}  // namespace heapprof::cli
