// cli/collect/rings/device_event.h: the part of a device event that does not fit into an Event; few programs have any,
// and those have few.
#pragma once

#include "shared/events.h"

#include <cstdint>
#include <unordered_map>

namespace heapprof::cli {

struct DeviceEvent {
  wire::DeviceOperation operation;
  uint32_t device;  // wire::kPinnedDevice …
  uint64_t object;  // context or handle; 0: none
  uint64_t address;
};

// Keeps these parts from the decoder to the ledger, while the events wait to be ordered.
class DeviceEventTable {
 public:
  uint64_t put(const DeviceEvent& device_event) {
    events_[++last_] = device_event;
    return last_;
  }
  // pre: put gave the number, and it has not been taken
  DeviceEvent take(uint64_t number) {
    const auto at = events_.find(number);
    const DeviceEvent device_event = at->second;
    events_.erase(at);
    return device_event;
  }

 private:
  std::unordered_map<uint64_t, DeviceEvent> events_;
  uint64_t last_ = 0;
};

}  // namespace heapprof::cli
