// cli/target/top_wire.h: the messages between `heapprof top` and the collector of a run, on the agents' socket.
//
// A subscriber that watches a process keeps a connection, and asks on it as often as it likes, each time after it has
// received the answer. Names, totals and the list of processes are asked for on separate connections, with one answer
// each. What an answer holds beyond its fields is in a file in memory that comes with it (cli/model/top/top_sample.h):
// so every answer fits the socket, and the collector never waits.
//
// Trust:    any process of our user may send anything: the collector checks every field. Both sides are of one build,
//           or refuse.
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
  kProcesses = 4,  // those of the run, whatever the pid is; likewise
};

struct TopRequest {
  uint32_t magic = kTopMagic;
  uint32_t version = kTopVersion;
  int32_t pid = 0;  // of a profiled process, or of the heapprof that runs it
  TopAsk ask = TopAsk::kSample;
  uint64_t from_begin = 0;  // not 0: as if nothing had been sent yet
};
static_assert(sizeof(TopRequest) == 24);
static_assert(sizeof(TopRequest) != sizeof(SnapshotRequest));
static_assert(sizeof(TopRequest) != sizeof(wire::Hello));

enum class TopStatus : uint32_t {
  kSample = 1,     // the file is a TopSample
  kNames = 2,      // a TopNames
  kUnknown = 3,    // no such process in this run
  kRefused = 4,    // text: why
  kEnding = 5,     // it has ended, and its profile is being written
  kEnded = 6,      // a TopEnd; it is the last answer
  kProcesses = 7,  // a TopProcesses
};

struct TopAnswer {
  uint32_t magic = kTopMagic;
  uint32_t version = kTopVersion;
  TopStatus status = TopStatus::kRefused;
  int32_t pid = 0;          // the process that it is about
  uint64_t image = 0;       // numbers of sites are valid within one program image: an exec begins another
  uint64_t size_bytes = 0;  // of the file; 0: no file
  char text[224] = {};      // ends with a zero byte
};
static_assert(sizeof(TopAnswer) == 256);

}  // namespace heapprof::cli
