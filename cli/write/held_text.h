// cli/write/held_text.h: what the driver held of a device for its pools and graphs, in words.
#pragma once

#include "cli/model/device_facts.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// A line for pools and one for graphs, each in pieces that may go on a line of their own; none where there is nothing.
std::vector<std::vector<std::string>> held_lines(const HeldMemory& held, bool exact_bytes);

}  // namespace heapprof::cli
