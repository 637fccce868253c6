// cli/collect/books/device_holdings.h: how much of a device's memory the driver itself holds, as it reports
// (wire::Holding), and how much of its pools is in use.
//
// Guarantees
//  - An answer to an earlier query never replaces one to a later query, in whichever order they arrive.
// Context:  one thread; events in the order of their stamps.
// Trust:    every number is the target's: numbers are kept and compared, never used as a size or an index unchecked.
#pragma once

#include "cli/model/profile/device_facts.h"
#include "shared/events.h"

#include <array>
#include <cstdint>

namespace heapprof::cli {

class DeviceHoldings {
 public:
  // pre: holding_of(object) < wire::kHoldings
  void take(uint64_t object, uint64_t most_bytes);
  // A block of a pool began or ended.
  void use_pool(uint64_t size_bytes);
  void leave_pool(uint64_t size_bytes);
  HeldMemory memory() const;

 private:
  struct Amount {
    uint64_t bytes = 0;
    uint64_t most_bytes = 0;
    uint32_t sequence = 0;
    bool is_known = false;
  };
  void note_idle();

  std::array<Amount, wire::kHoldings> amounts_;
  uint64_t used_bytes_ = 0;
  uint64_t used_most_bytes_ = 0;
  uint64_t idle_most_bytes_ = 0;
  bool is_partial_ = false;
};

}  // namespace heapprof::cli
