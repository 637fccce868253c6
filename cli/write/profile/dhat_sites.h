// cli/write/profile/dhat_sites.h: writes, in columns, those numbers of a device's sites for which DHAT's program points
// have no field.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/write/encode/json_stream.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kExactDouble = (uint64_t{1} << 53) - 1;  // viewers hold numbers as doubles

// Writes a key and an array of numbers.
void write_numbers(std::string_view name, const std::vector<uint64_t>& numbers, JsonWriter* json);

// Writes an object: columns with a number per site, in the order of the program points, and lists of the few sites with
// further numbers. Profile::has_coarse_sizes says how their blocks are counted by size.
void write_site_columns(const std::vector<Site>& sites, bool has_coarse_sizes, JsonWriter* json);

}  // namespace heapprof::cli
