// cli/run/device_use_relay.h: gives the processes of a run the memory that NVML counts as in use on their devices.
//
// Context:  the collector's thread.
// Cost:     a check, now and then, of which devices each process uses; once there is a CUDA device, one system call per
//           drain pass.
#pragma once

#include "cli/run/processes.h"
#include "cli/target/device_use_watch.h"

namespace heapprof::cli {

// Asks NVML about the devices that the processes use so far. If no process uses a device, stops the helper program that
// asks.
void ask_device_use(DeviceUseWatch* use, Processes* processes);
// Gives each process the samples: its own bytes if NVML knows them, else those of all processes. Call it after a drain
// pass that came after DeviceUseWatch::take(), so that each ledger is of the samples' time or later.
void pass_on_device_use(const std::vector<DeviceUseSample>& samples, Processes* processes);

}  // namespace heapprof::cli
