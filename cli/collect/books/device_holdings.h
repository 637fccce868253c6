// cli/collect/books/device_holdings.h: what the driver says that it holds of a device (wire::Holding), beside what is
// in use of its pools.
//
// Guarantees
//  - What was asked earlier never takes the place of what was asked later, in whichever order they arrive.
// Context:  one thread; events in the order of their stamps.
// Trust:    every number is the target's: they are kept and compared, never used as a size or an index unchecked.
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
