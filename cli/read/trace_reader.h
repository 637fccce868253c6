// cli/read/trace_reader.h: the trace of device memory, out of a profile's extension.
#pragma once

#include "cli/model/profile/device_trace.h"
#include "cli/read/json_pull.h"
#include "cli/read/point_reader.h"

namespace heapprof::cli {

// The object. Errors stay in `json`: columns of several lengths, a number that names nothing, more events or blocks
// than a profile holds.
void read_device_trace(JsonPull* json, PointReader* points, DeviceTrace* trace);

}  // namespace heapprof::cli
