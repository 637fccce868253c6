// cli/write/text/sampling_text.h: how a sampled profile says that it is one, and how far its numbers may be off.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// "sampled: …" and "paused: …", a line each, broken at `columns`; empty if every block was recorded all the time.
std::string sampling_lines(const Profile& profile, size_t columns);

// "±9 %": the error at 95 % of an estimate, behind its number and its share. Nothing where the device's are exact.
void add_error(const Profile& profile, const Device& device, const PlaceNumbers& numbers, Metric metric,
               std::vector<std::string>* cells);

}  // namespace heapprof::cli
