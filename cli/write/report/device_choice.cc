// cli/write/report/device_choice.cc: devices are chosen by their peaks; if a profile has no peaks, by the bytes
// allocated in all.
#include "cli/write/report/device_choice.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/profile/find_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace heapprof::cli {
namespace {

constexpr uint64_t kSmallShare = 100;  // a device below 1/100 of the largest is small

uint64_t weight(const Profile& profile, const Device& device) {
  return profile.has_lifetimes ? device.totals.peak_bytes : device.totals.total_bytes;
}

// Whether the device has facts besides its numbers.
bool has_more_to_say(const Device& device) {
  return !device.refusals.empty() || device.limit_bytes != 0 || device.use.samples != 0 || device.unseen.has_any() ||
         device.segments.has_refusal() || device.held.pools_peak_bytes != 0 || device.held.graphs_peak_bytes != 0;
}

}  // namespace

DeviceChoice choose_devices(const Profile& profile) {
  DeviceChoice choice;
  uint64_t largest = 0;
  for (const Device& device : profile.devices) {
    if (!is_reserved_device(device.name)) largest = std::max(largest, weight(profile, device));
  }
  for (const Device& device : profile.devices) {
    const bool is_small = &device != &profile.devices.front() && weight(profile, device) < largest / kSmallShare;
    if (is_reserved_device(device.name)) {
      choice.addresses.push_back(&device);
    } else if (is_small && !has_more_to_say(device)) {
      choice.small.push_back(&device);
    } else {
      choice.shown.push_back(&device);
    }
  }
  // A part of a device ("cuda:0/tensors", Python's objects, which are in mapped memory) comes after that device.
  const auto outer = [&](const Device* device) {
    const Device* found = find_device(profile, device->name.substr(0, device->name.find('/')));
    if (found != nullptr && is_inner_device(found->name)) found = find_device(profile, "mapped");
    return found != nullptr ? found : device;
  };
  const auto key = [&](const Device* device) {
    const Device* const whole = outer(device);
    return std::tuple(UINT64_MAX - weight(profile, *whole), whole, device != whole);
  };
  std::stable_sort(choice.shown.begin(), choice.shown.end(),
                   [&](const Device* a, const Device* b) { return key(a) < key(b); });
  return choice;
}

std::string small_devices_line(const Profile& profile, const DeviceChoice& choice, bool exact_bytes,
                               const std::string& call, size_t columns) {
  std::string text;
  for (const Device* device : choice.small) {
    const uint64_t bytes = weight(profile, *device);
    text += fmt::format("{}{} {}", text.empty() ? "below 1 %: " : ", ", escape_controls(device->name),
                        exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes));
  }
  for (const Device* device : choice.addresses)
    text += fmt::format("{}no memory, addresses only: {}", text.empty() ? "" : "; ", escape_controls(device->name));
  if (text.empty()) return "";
  return fitted(fmt::format("{}  ({} --device NAME)\n", text, call), columns);
}

}  // namespace heapprof::cli
