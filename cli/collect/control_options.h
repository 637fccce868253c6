// cli/collect/control_options.h: what the agent is told before it starts, in the control page of its arena.
#pragma once

#include "cli/collect/process_collector.h"
#include "shared/wire.h"

namespace heapprof::cli {

// control: of a fresh arena, which no agent has yet
void write_options(const CollectorOptions& options, wire::Control* control);

}  // namespace heapprof::cli
