// cli/write/text/sampling_text.h: the text that marks a sampled profile, and the error of its numbers.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// "sampled: …" and "paused: …", a line each, broken at `columns`; empty if every block was recorded all the time.
std::string sampling_lines(const Profile& profile, size_t columns);

// Inserts "±9 %", the 95 % error of an estimate, after its number and its share. Does nothing if the device's numbers
// are exact.
void add_error(const Profile& profile, const Device& device, const PlaceNumbers& numbers, Metric metric,
               std::vector<std::string>* cells);

}  // namespace heapprof::cli
