// cli/write/report/device_choice.h: chooses the devices that fit a screen.
//
// A device whose peak is less than a hundredth of the largest peak is only named in one line with its peak. So are
// addresses without memory (mapped:reserved). --device NAME shows more.
//
// Guarantees
//  - The largest comes first.
//  - The heap is always shown, and so is a device that refused memory, has a limit, or has numbers from a driver.
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

// "below 1 %: mapped 64.0 KiB; addresses without memory: mapped:reserved (heapprof report --device NAME)", with a line
// end; empty: all are shown. `call`: the command that shows one.
std::string small_devices_line(const Profile& profile, const DeviceChoice& choice, bool exact_bytes,
                               const std::string& call, size_t columns);

}  // namespace heapprof::cli
