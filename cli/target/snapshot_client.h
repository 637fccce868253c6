// cli/target/snapshot_client.h: finds the run to which a process belongs, and asks its collector for a profile.
#pragma once

#include "cli/base/result.h"
#include "cli/target/snapshot_wire.h"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace heapprof::cli {

struct SnapshotTaken {
  std::string path;
  uint64_t size_bytes = 0;
  uint64_t live_bytes = 0;
  uint64_t peak_bytes = 0;
  std::string devices;  // the devices' peaks, "cuda:0 1.20 GiB"; empty: no devices
};

// `path` is absolute. Waits five seconds for the collector's first answer, and then without a limit until the profile
// is written or the writer has died.
Result<SnapshotTaken> ask_for_snapshot(pid_t pid, const std::string& path, bool may_overwrite);

}  // namespace heapprof::cli
