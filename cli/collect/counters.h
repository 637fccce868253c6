// cli/collect/counters.h: what a profile says of its own events: how many, and why some may be missing.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/model/profile/run.h"
#include "shared/wire.h"

#include <string>

namespace heapprof::cli {

// Ends of blocks that nobody saw begin: are as many mistakes; are of blocks from before, or of a pause; mean nothing,
// as any address may seem to be a chosen block's.
enum class UnknownEnds { kForeign, kInherited, kMeaningless };

// What the ledger and the agent have counted.
Counters counters_of(const LedgerCounts& counts, const wire::Control& control, UnknownEnds unknown);

// Why the profile is not whole; empty if it is.
std::string what_is_missing(const Counters& counters, wire::StopReason stop, bool is_detached,
                            bool has_unreadable_rings, bool is_attached, const std::string& own_reason);

}  // namespace heapprof::cli
