// cli/model/profile/site_spread.h: how far a site's numbers differ between the processes of a merged profile.
//
// The average is the site's number divided by `inputs`. A process without the site has 0 and is not counted in
// `inputs`.
//
// Guarantees
//  - add_spread() is associative and commutative: the process with the maximum does not depend on the order of merges.
//    If several have the same maximum, it is the one with the smallest input number.
//  - If the spread of one part is unknown, the sum's is unknown too. It is unknown for rows of small sites, and for
//    profiles that an older version merged.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct SiteNumbers;
struct Profile;
struct Device;

struct NumberSpread {
  uint64_t min = 0;
  uint64_t max = 0;
  uint32_t max_input = 0;  // MergedPart::input of the first that had max
};

struct SpreadField {
  uint64_t SiteNumbers::*number;
  std::string_view name;  // "peak": keys are "peak_min_bytes", "peak_max_bytes", "peak_max_input"
};
inline constexpr size_t kSpreadFields = 3;
const std::array<SpreadField, kSpreadFields>& spread_fields();

struct SiteSpread {
  uint32_t inputs = 0;  // number of inputs that have the site
  std::array<NumberSpread, kSpreadFields> of;
};

// For a site's `spread` lists, which have one element or none.
void add_spread(std::vector<SiteSpread>* into, const std::vector<SiteSpread>& from);
SiteSpread spread_of_one(const SiteNumbers& numbers, uint32_t input);

// Return one sentence for each violation in the list of inputs, and in the sites of a device.
std::vector<std::string> find_input_violations(const Profile& profile);
std::vector<std::string> find_spread_violations(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
