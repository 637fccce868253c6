// cli/write/report/device_choice.h: chooses the devices that fit a screen.
//
// Devices whose peak is less than a hundredth of the largest peak share one line with their names and peaks. The line
// also names address ranges without memory (mapped:reserved). --device NAME shows more.
//
// Guarantees
//  - The largest device comes first.
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

// "below 1 %: mapped 64.0 KiB; no memory, addresses only: mapped:reserved (heapprof report --device NAME)", with a line
// end; empty: all devices are shown. `call`: the command that shows one.
std::string small_devices_line(const Profile& profile, const DeviceChoice& choice, bool exact_bytes,
                               const std::string& call, size_t columns);

}  // namespace heapprof::cli
