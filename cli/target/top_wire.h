// cli/target/top_wire.h: the messages between `heapprof top` and the collector of a run, on the agents' socket.
//
// A subscriber that watches a process keeps a connection open. It may send any number of requests, each after it has
// received the answer to the one before. Names, totals and the list of processes are requested on separate connections,
// with one answer each. The data of an answer is in a memfd that is sent with it (cli/model/top/top_sample.h), so that
// every answer fits into the socket's buffer, and the collector never waits.
//
// Trust:    any process of our user may send anything: the collector checks every field. Both sides must be of the
//           same version, otherwise they refuse each other.
#pragma once

#include "cli/target/snapshot_wire.h"

#include <cstdint>

namespace heapprof::cli {

inline constexpr uint32_t kTopMagic = 0x4F545048;  // "HPTO": no agent's hello begins with it
inline constexpr uint32_t kTopVersion = 2;

enum class TopAsk : uint32_t {
  kSample = 1,
  kNames = 2,
  kTotals = 3,     // a sample without sites: one answer, then the connection is closed
  kProcesses = 4,  // the pids of the run's processes; `pid` is ignored; likewise
};

struct TopRequest {
  uint32_t magic = kTopMagic;
  uint32_t version = kTopVersion;
  int32_t pid = 0;  // a profiled process, or the heapprof that runs it
  TopAsk ask = TopAsk::kSample;
  uint64_t from_begin = 0;  // not 0: send all again, as in the first sample
};
static_assert(sizeof(TopRequest) == 24);
static_assert(sizeof(TopRequest) != sizeof(SnapshotRequest));
static_assert(sizeof(TopRequest) != sizeof(wire::Hello));

enum class TopStatus : uint32_t {
  kSample = 1,     // the file is a TopSample
  kNames = 2,      // a TopNames
  kUnknown = 3,    // no such process in this run
  kRefused = 4,    // text: why
  kEnding = 5,     // the process has ended, and its profile is being written
  kEnded = 6,      // a TopEnd; it is the last answer
  kProcesses = 7,  // a TopProcesses
};

struct TopAnswer {
  uint32_t magic = kTopMagic;
  uint32_t version = kTopVersion;
  TopStatus status = TopStatus::kRefused;
  int32_t pid = 0;          // the process that the answer is about
  uint64_t image = 0;       // site numbers are valid only within one program image (until an exec)
  uint64_t size_bytes = 0;  // of the file; 0: no file
  char text[224] = {};      // ends with a zero byte
};
static_assert(sizeof(TopAnswer) == 256);

}  // namespace heapprof::cli
