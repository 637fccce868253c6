// cli/run/device_use_relay.h: keeps the processes of a run told what NVML counts as in use on their devices.
//
// Context:  the collector's thread.
// Cost:     a look at the processes' notes now and then; a system call a round once there is a CUDA device.
#pragma once

#include "cli/run/processes.h"
#include "cli/target/device_use_watch.h"

namespace heapprof::cli {

// Asks for the devices that the processes use by now. When none uses a device any more, nothing is asked.
void ask_device_use(DeviceUseWatch* use, Processes* processes);
// Tells each what was said, once its ledger is of that moment or later: its own bytes where NVML knows them, else
// everyone's.
void pass_on_device_use(const std::vector<DeviceUseSample>& samples, Processes* processes);

}  // namespace heapprof::cli
