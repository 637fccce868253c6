// cli/collect/rings/device_event.h: what an event of a device says besides an Event; few programs have any, and those have few.
#pragma once

#include "shared/events.h"

#include <cstdint>
#include <unordered_map>

namespace heapprof::cli {

struct DeviceFacts {
  wire::DeviceOperation operation;
  uint32_t device;  // wire::kPinnedDevice …
  uint64_t object;  // context or handle; 0: none
  uint64_t address;
};

// From the decoder to the ledger, while events wait for their turn.
class DeviceFactsTable {
 public:
  uint64_t put(const DeviceFacts& facts) {
    facts_[++last_] = facts;
    return last_;
  }
  // pre: put gave the number, and it has not been taken
  DeviceFacts take(uint64_t number) {
    const auto at = facts_.find(number);
    const DeviceFacts facts = at->second;
    facts_.erase(at);
    return facts;
  }

 private:
  std::unordered_map<uint64_t, DeviceFacts> facts_;
  uint64_t last_ = 0;
};

}  // namespace heapprof::cli
