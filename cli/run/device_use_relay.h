// cli/run/device_use_relay.h: passes on to the processes of a run what NVML counts as in use on their devices.
//
// Context:  the collector's thread.
// Cost:     a check of the processes' notes now and then; a system call per round once there is a CUDA device.
#pragma once

#include "cli/run/processes.h"
#include "cli/target/device_use_watch.h"

namespace heapprof::cli {

// Asks about the devices that the processes use by now. When no process uses a device any more, the helper is stopped.
void ask_device_use(DeviceUseWatch* use, Processes* processes);
// Gives each process the samples, once its ledger is of that moment or later: its own bytes if NVML knows them, else
// those of all processes.
void pass_on_device_use(const std::vector<DeviceUseSample>& samples, Processes* processes);

}  // namespace heapprof::cli
