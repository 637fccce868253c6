// cli/collect/counters.h: the numbers of a profile's own events, and why some may be missing.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/model/profile/run.h"
#include "shared/wire.h"

#include <string>

namespace heapprof::cli {

// What an end without a recorded begin means. kForeign: a mistake. kInherited: the end of a block from before the
// agent, or from a pause. kMeaningless: nothing, because any address may look like that of a chosen block.
enum class UnknownEnds { kForeign, kInherited, kMeaningless };

// What the ledger and the agent have counted.
Counters counters_of(const LedgerCounts& counts, const wire::Control& control, UnknownEnds unknown);

// Why the profile is not whole; empty if it is.
std::string what_is_missing(const Counters& counters, wire::StopReason stop, bool is_detached,
                            bool has_unreadable_rings, bool is_attached, const std::string& own_reason);

}  // namespace heapprof::cli
