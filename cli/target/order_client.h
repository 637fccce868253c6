// cli/target/order_client.h: sends an order to the collector of a process.
#pragma once

#include "cli/base/result.h"
#include "cli/target/order_wire.h"

#include <cstdint>

namespace heapprof::cli {

struct Followers {
  uint32_t processes;
  bool are_whole_run;
};

// command: the heapprof command, for error messages. Returns how many processes follow the order.
Result<Followers> give_order(const Order& order, const char* command);

}  // namespace heapprof::cli
