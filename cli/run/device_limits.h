// cli/run/device_limits.h: `heapprof run --limit DEVICE=SIZE`.
#pragma once

#include "cli/base/result.h"
#include "cli/collect/process_collector.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// Reads the limits; if a device has several, the last counts. Returns a problem if there is no such device, no size, or
// the device cannot be limited.
Result<DeviceLimits> parse_limits(const std::vector<std::string>& texts);

}  // namespace heapprof::cli
