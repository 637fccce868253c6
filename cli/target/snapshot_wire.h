// cli/target/snapshot_wire.h: the messages between `heapprof snapshot` and the collector of a run, on the agents'
// socket.
//
// The client sends one request. The collector answers at once that it has begun (kWorking), or that it refuses. After
// kWorking, a second answer comes when the profile is written. If the connection ends before that, the writer has died.
//
// Trust:    any process of our user may send anything: the collector checks every field. Both sides must be of the
//           same version, otherwise they refuse each other.
#pragma once

#include "shared/wire.h"

#include <cstdint>

namespace heapprof::cli {

inline constexpr uint32_t kSnapshotMagic = 0x53505048;  // "HPPS": no agent's hello begins with it
inline constexpr uint32_t kSnapshotVersion = 2;

struct SnapshotRequest {
  uint32_t magic = kSnapshotMagic;
  uint32_t version = kSnapshotVersion;
  int32_t pid = 0;  // a profiled process, or the heapprof that runs it
  uint32_t may_overwrite = 0;
  char path[4096] = {};  // absolute; ends with a zero byte
};
static_assert(sizeof(SnapshotRequest) == 4112);
static_assert(sizeof(SnapshotRequest) != sizeof(wire::Hello));

enum class SnapshotStatus : uint32_t {
  kWorking = 1,  // the profile is being written
  kWritten = 2,  // text: the profile's path
  kUnknown = 3,  // no such process in this run
  kRefused = 4,  // text: why
};

struct SnapshotAnswer {
  uint32_t magic = kSnapshotMagic;
  uint32_t version = kSnapshotVersion;
  SnapshotStatus status = SnapshotStatus::kRefused;
  uint32_t reserved = 0;
  uint64_t size_bytes = 0;  // of the file
  uint64_t live_bytes = 0;
  uint64_t peak_bytes = 0;
  char devices[256] = {};  // the devices' peaks as text, "cuda:0 1.20 GiB"; ends with a zero byte
  char text[4096] = {};
};
static_assert(sizeof(SnapshotAnswer) == 4392);

}  // namespace heapprof::cli
