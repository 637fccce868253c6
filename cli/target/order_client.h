// cli/target/order_client.h: gives an order to the collector of a process.
#pragma once

#include "cli/base/result.h"
#include "cli/target/order_wire.h"

#include <cstdint>

namespace heapprof::cli {

// command: who gives it, for errors. Returns how many processes follow.
Result<uint32_t> give_order(const Order& order, const char* command);

}  // namespace heapprof::cli
