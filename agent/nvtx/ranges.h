// agent/nvtx/ranges.h: records NVTX ranges and marks as scopes and marks.
//
// A pushed range is a scope of its thread, as by heapprof_scope_begin; a pop ends only the innermost pushed range of
// that thread and domain. A started range may end in another thread and may overlap others: it is a scope apart, which
// has a duration but owns no memory (shared/scopes.h).
//
// Guarantees
//  - If events are not recorded, nothing is recorded and nothing changed.
//  - A pop without a range, and the end of a range that is not open, are recorded as such.
// Context:  threads, signal handlers and forked children; errno is unchanged.
// Cost:     tests/targets/nvtx/nvtx_ranges.cc measures a pair (`nvtx_ranges cost`).
#pragma once

#include "agent/arch/arch.h"
#include "agent/nvtx/abi.h"

namespace heapprof::agent::nvtx {

// True if ranges are recorded. In a forked child this call starts its session.
bool is_on();

// name: the name's number. items: 0: none. Returns the range's level in its domain; kNoTracking: it is not recorded.
int push(uint32_t domain, uint32_t name, uint64_t items, HookFrame hook_frame);
// Returns the level of the range that it ends; kFailed: no range.
int pop(uint32_t domain, HookFrame hook_frame);
// Returns the range's id; 0: it is not recorded.
uint64_t start(uint32_t name, uint64_t items, HookFrame hook_frame);
void end(uint64_t range, HookFrame hook_frame);
void mark(uint32_t name, HookFrame hook_frame);

}  // namespace heapprof::agent::nvtx
