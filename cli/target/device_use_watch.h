// cli/target/device_use_watch.h: collects what NVML counts as in use on GPUs. A separate program, heapprof-nvml
// (cli/nvml), asks NVML.
//
// Guarantees
//  - Except try_nvml(), nothing here waits for the driver: take() returns the samples that have arrived.
//  - The helper ends with this object, or with the thread that started it (PR_SET_PDEATHSIG). Ctrl-C at a terminal does
//    not reach it.
// Trust:    the helper's lines may contain anything, as NVML also reports on other users' processes. Every line is
//           checked.
// Cost:     nothing before the first look_at(); after it, a process that asks the driver every second.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {

// What NVML said of one device at one moment.
struct DeviceUseSample {
  std::string uuid;
  uint64_t all_bytes = 0;               // of all processes together
  std::map<pid_t, uint64_t> processes;  // in bytes, for the processes that NVML lists
};

class DeviceUseWatch {
 public:
  // helper: the path of heapprof-nvml; empty: it is not installed.
  explicit DeviceUseWatch(std::string helper) : helper_(std::move(helper)) {}
  ~DeviceUseWatch();
  DeviceUseWatch(const DeviceUseWatch&) = delete;
  DeviceUseWatch& operator=(const DeviceUseWatch&) = delete;

  void look_at(const std::string& uuid);
  // Only finds out whether NVML can be used. Returns why not; empty: it can. Waits for each answer of the helper,
  // patience_ms at most.
  std::string try_nvml(int patience_ms);
  // The samples since the last call.
  std::vector<DeviceUseSample> take();
  // Why NVML reports nothing for that device; empty: no error is known.
  std::string missing(const std::string& uuid) const;
  // Ends the helper, when there is no device to look at. The next look_at() starts another one.
  void stop();

 private:
  void start();
  void read_output();
  void take_line(const std::string& line);

  std::string helper_;
  std::set<std::string> uuids_;
  pid_t pid_ = 0;    // 0: not started, or ended
  UniqueFd socket_;  // connected to the helper's standard input and output
  std::string text_;
  DeviceUseSample sample_;  // the sample that is being read
  std::vector<DeviceUseSample> samples_;
  bool is_ready_ = false;                       // NVML has started
  std::string missing_;                         // why nothing is reported at all
  std::map<std::string, std::string> unknown_;  // by UUID: why nothing is reported for it
};

}  // namespace heapprof::cli
