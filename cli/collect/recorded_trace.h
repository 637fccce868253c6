// cli/collect/recorded_trace.h: the trace of device memory, and what is live there, with names and times, for the
// recording.
//
// Trust:  the names are the target's, which may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/collect/clock.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/device_trace.h"
#include "shared/scopes.h"

namespace heapprof::cli {

struct TraceParts {
  const Ledger* ledger;  // finished
  const CallTree* tree;
  const wire::Name* names;  // wire::kMaxNames of them
  const TickScale* scale;
};
DeviceTrace recorded_trace(const TraceParts& parts);
// Where there is no memory for it: what there was is counted.
DeviceTrace lost_trace(const Ledger& ledger);

}  // namespace heapprof::cli
