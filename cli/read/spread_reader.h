// cli/read/spread_reader.h: the columns of "sites" that say how a site's numbers differ between the inputs of a sum.
//
// Errors stay in `json`.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/read/field_reader.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct SpreadColumns {
  std::vector<uint64_t> sites;   // whose spread is known; the other columns have a number for each of them
  std::vector<uint64_t> inputs;  // that have the site
  std::array<std::array<std::vector<uint64_t>, 3>, kSpreadFields> of;  // smallest, largest, the input that had it
};

// The members of "sites" that fill the columns, which must outlive the reading.
void add_spread_members(JsonPull* json, SpreadColumns* columns, std::vector<MemberReader::Member>* members);

// Puts them into the sites; false if they do not fit. Whether the numbers agree with each other is for
// cli/model/profile/invariants.h to say.
bool set_spreads(const SpreadColumns& columns, std::vector<Site>* sites);

}  // namespace heapprof::cli
