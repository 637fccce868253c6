// cli/write/report/device_text.h: what is known of each device of a report, in cells.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// Their facts in columns; what does not fit goes on below.
std::string device_lines(const Profile& profile, const PlaceTree& tree, const std::vector<const Device*>& devices,
                         bool exact_bytes, size_t columns);

// The same without what else is known of a device: drivers, identity, what was resident.
std::string device_facts(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                         size_t columns);

// What the process had resident at most, and what of that is known; with its end of line. Empty: not sampled.
std::string resident_lines(const DeviceTotals& totals, size_t columns);

}  // namespace heapprof::cli
