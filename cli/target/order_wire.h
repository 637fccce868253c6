// cli/target/order_wire.h: the messages that `heapprof pause`, `resume` and `mark` exchange with the collector of a
// run, on the agents' socket.
//
// The client sends one order. The collector follows or refuses it, and sends one answer.
//
// Trust:    any process of our user may send anything: the collector checks every field. Both sides must be of the
//           same version, otherwise they refuse each other.
#pragma once

#include "cli/target/snapshot_wire.h"
#include "shared/wire.h"

#include <cstdint>

namespace heapprof::cli {

inline constexpr uint32_t kOrderMagic = 0x4f505048;  // "HPPO": no agent's hello begins with it
inline constexpr uint32_t kOrderVersion = 1;

enum class OrderKind : uint32_t {
  kPause = 1,   // record no blocks that begin from now on
  kResume = 2,  // record as before the pause
  kSample = 3,  // record blocks chosen by `interval_bytes`; 0: all
  kMark = 4,    // set a mark `name`
};

struct Order {
  uint32_t magic = kOrderMagic;
  uint32_t version = kOrderVersion;
  int32_t pid = 0;  // a profiled process; or its heapprof: all processes of the run, also later ones
  OrderKind kind = OrderKind::kPause;
  uint64_t interval_bytes = 0;
  char name[120] = {};  // ends with a zero byte
};
static_assert(sizeof(Order) == 144);
static_assert(sizeof(Order) != sizeof(wire::Hello) && sizeof(Order) != sizeof(SnapshotRequest));

enum class OrderStatus : uint32_t {
  kDone = 1,
  kUnknown = 2,  // no such process in this run
  kRefused = 3,  // text: why
};

inline constexpr const char* kWholeRun = "run";  // the text with kDone, if the order was to the whole run

struct OrderAnswer {
  uint32_t magic = kOrderMagic;
  uint32_t version = kOrderVersion;
  OrderStatus status = OrderStatus::kRefused;
  uint32_t processes = 0;  // how many processes follow it
  char text[240] = {};     // ends with a zero byte
};
static_assert(sizeof(OrderAnswer) == 256);

}  // namespace heapprof::cli
