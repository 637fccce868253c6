// cli/write/profile/dhat_trace.h: the trace of device memory, in columns.
#pragma once

#include "cli/model/profile/device_trace.h"
#include "cli/write/encode/json_stream.h"

#include <cstdint>
#include <functional>

namespace heapprof::cli {

// Writes the members of the trace's object. write_frames(node) writes an array of the stack's frames, as in a program
// point.
void write_device_trace(const DeviceTrace& trace, const std::function<void(uint32_t)>& write_frames, JsonWriter* json);

}  // namespace heapprof::cli
