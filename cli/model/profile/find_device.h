// cli/model/profile/find_device.h: a profile's device by its name.
#pragma once

#include "cli/model/profile/profile.h"

#include <string_view>

namespace heapprof::cli {

// Null if the profile has no device of that name.
inline const Device* find_device(const Profile& profile, std::string_view name) {
  for (const Device& device : profile.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

}  // namespace heapprof::cli
