// cli/write/report/device_choice.h: which devices a screen has room for.
//
// A device with less than a hundredth of what the largest one peaked at is named in one line with its peak; so are
// addresses without memory (mapped:reserved): who wants to see more of one asks for it (--device NAME).
//
// Guarantees
//  - The largest comes first.
//  - The heap is always shown, and so is a device that refused memory, has a limit, or of which a driver said
//    something.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct DeviceChoice {
  std::vector<const Device*> shown;
  std::vector<const Device*> small;
  std::vector<const Device*> addresses;  // without memory
};
DeviceChoice choose_devices(const Profile& profile);

// "below 1 %: mapped 64.0 KiB; addresses without memory: mapped:reserved (heapprof report --device NAME)", with its end
// of line; empty: all are shown. `call`: how to ask for one.
std::string small_devices_line(const Profile& profile, const DeviceChoice& choice, bool exact_bytes,
                               const std::string& call, size_t columns);

}  // namespace heapprof::cli
