// cli/write/report/held_text.h: what the driver says of a device's memory, in words: held for pools and graphs, and in
// use.
//
// Each line comes in pieces that may go on a line of their own.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// One for pools and one for graphs; none where there is nothing.
std::vector<std::vector<std::string>> held_lines(const HeldMemory& held, bool exact_bytes);
// What is in use by NVML's count, and what of it is known; or why it is not known. Empty: nobody asked.
std::vector<std::string> use_line(const DeviceUse& use, const UnseenMemory& unseen, bool exact_bytes);

}  // namespace heapprof::cli
