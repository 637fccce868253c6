// cli/run/device_use.cc: see device_use.h.
#include "cli/run/device_use.h"

namespace heapprof::cli {

void ask_device_use(DeviceUseWatch* use, Processes* processes) {
  processes->for_each([use](pid_t, ProcessCollector& collector) {
    for (const std::string& uuid : collector.device_uuids()) use->look_at(uuid);
    if (!use->missing().empty()) collector.note_use_missing(use->missing());
  });
}

void pass_on_device_use(DeviceUseWatch* use, Processes* processes) {
  for (const DeviceUseSample& sample : use->take()) {
    processes->for_each([&sample](pid_t pid, ProcessCollector& collector) {
      const auto own = sample.processes.find(pid);
      const bool is_own = own != sample.processes.end();
      collector.note_device_use(sample.uuid, is_own ? own->second : sample.all_bytes, !is_own);
    });
  }
}

}  // namespace heapprof::cli
