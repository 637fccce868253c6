// agent/record/record_parts.h: what has to precede a record, for the files that write records.
//
// Context:  between begin_event and end_event.
#pragma once

#include "agent/process/state.h"
#include "agent/record/context.h"
#include "shared/events.h"

namespace heapprof::agent {

// Writes what has to precede the next record. False: the event is not to be recorded.
bool prepare(Context* context);

inline bool is_prepared(Context* context) {
  return context->ready_for == g_fork_page.generation.load(std::memory_order_relaxed) || prepare(context);
}

inline uint64_t prefix(wire::RecordType type) { return static_cast<uint64_t>(type) << 60; }

}  // namespace heapprof::agent
