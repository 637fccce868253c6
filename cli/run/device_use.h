// cli/run/device_use.h: keeps the processes of a run told what NVML counts as in use on their devices.
//
// Context:  the collector's thread.
// Cost:     a look at the processes' notes now and then; a system call a round once there is a CUDA device.
#pragma once

#include "cli/run/processes.h"
#include "cli/target/device_use.h"

namespace heapprof::cli {

// Asks for the devices that they use by now.
void ask_device_use(DeviceUseWatch* use, Processes* processes);
// Tells each what was said since, while its ledger is of about that moment: its own bytes where NVML knows them, else everyone's.
void pass_on_device_use(DeviceUseWatch* use, Processes* processes);

}  // namespace heapprof::cli
