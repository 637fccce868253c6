// cli/model/profile/site_spread.h: how a site's numbers differ between the processes that a merged profile sums.
//
// The average is the site's number divided by `inputs`; a process without the site has 0 and is in none of these.
//
// Guarantees
//  - add_spread() is associative and commutative: whoever had the most is the same process in whatever order profiles
//    are merged, the one with the smallest number of those that had as much.
//  - What is not known of one part is not known of the sum: rows of small sites, and profiles that were merged before
//    this was kept.
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
  uint32_t inputs = 0;  // that have the site
  std::array<NumberSpread, kSpreadFields> of;
};

// Of a site's `spread` lists, which have one element or none.
void add_spread(std::vector<SiteSpread>* into, const std::vector<SiteSpread>& from);
SiteSpread spread_of_one(const SiteNumbers& numbers, uint32_t input);

// One sentence for each thing that does not hold: of the list of inputs, and of the sites of a device.
std::vector<std::string> find_input_violations(const Profile& profile);
std::vector<std::string> find_spread_violations(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
