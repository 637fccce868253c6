// cli/run/device_use_relay.cc: see device_use_relay.h. If memory runs out, samples are left out.
#include "cli/run/device_use_relay.h"

#include <new>

namespace heapprof::cli {

void ask_device_use(DeviceUseWatch* use, Processes* processes) try {
  bool has_device = false;
  processes->for_each([&](pid_t, ProcessCollector& collector) {
    for (const std::string& uuid : collector.device_uuids()) {
      has_device = true;
      use->look_at(uuid);
      if (const std::string missing = use->missing(uuid); !missing.empty()) collector.note_use_missing(uuid, missing);
    }
  });
  if (!has_device) use->stop();
} catch (const std::bad_alloc&) {
}

void pass_on_device_use(const std::vector<DeviceUseSample>& samples, Processes* processes) try {
  for (const DeviceUseSample& sample : samples) {
    processes->for_each([&sample](pid_t pid, ProcessCollector& collector) {
      const auto own = sample.processes.find(pid);
      const bool is_own = own != sample.processes.end();
      collector.note_device_use(sample.uuid, is_own ? own->second : sample.all_bytes, !is_own);
    });
  }
} catch (const std::bad_alloc&) {
}

}  // namespace heapprof::cli
