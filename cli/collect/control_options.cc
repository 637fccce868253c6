// cli/collect/control_options.cc: see collector_parts.h.
#include "cli/collect/collector_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapprof::cli {

void write_options(const CollectorOptions& options, wire::Control* control) {
  control->magic = wire::kMagic;
  control->version = wire::kProtocolVersion;
  control->arena_bytes = wire::kArenaBytes;
  control->clock_mode = options.clock_mode;
  control->fence_mode = options.fence_mode;
  control->full_policy = options.full_policy;
  control->unwinder = options.unwinder;
  control->stall_timeout_ms = options.stall_timeout_ms;
  control->max_frames = std::min<uint32_t>(options.max_frames, UINT16_MAX);  // wire: keep has 16 bits
  control->estimates_gpu = options.estimates_gpu ? 1 : 0;
  control->hooks_deep_bind = options.hooks_deep_bind ? 1 : 0;
  control->leak_check = options.leak_check ? 1 : 0;
  control->nvtx = options.records_nvtx ? 1 : 0;
  control->python_objects = options.records_objects ? 1 : 0;
  control->torch_operators = options.records_operators ? 1 : 0;
  control->python = options.reads_python ? 1 : 0;
  control->gpu_time = options.gpu_time;
  for (size_t i = 0; i < options.limits.cuda.size(); ++i) {
    control->device_limits[i] = options.limits.cuda[i];
    if (options.limits.cuda[i] != 0) control->has_device_limits = 1;
  }
  control->host_limit_bytes = options.limits.host_bytes;
}

}  // namespace heapprof::cli
