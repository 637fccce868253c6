// agent/nvtx/ranges.h: ranges and marks of NVTX as scopes and marks.
//
// A pushed range is a scope of its thread, as of heapprof_scope_begin; its pop ends the innermost pushed range of that
// thread and domain, and nothing else. A range that is started may end in another thread, and overlaps others: it is a
// scope apart, which has a time and owns no memory (shared/scopes.h).
//
// Guarantees
//  - Nothing is recorded, and nothing changed, where events are not recorded.
//  - A pop that finds no range, and an end of what is not open, are recorded as such.
// Context:  threads, signal handlers and forked children; errno is as before.
// Cost:     tests/targets/nvtx/nvtx_ranges.cc measures a pair (`nvtx_ranges cost`).
#pragma once

#include "agent/nvtx/abi.h"

namespace heapprof::agent::nvtx {

// Whether ranges are recorded. A forked child begins its life with the question.
bool is_on();

// name: its number. items: 0: none. Returns the range's level in its domain; kNoTracking: it is not recorded.
int push(uint32_t domain, uint32_t name, uint64_t items, const uint64_t* hook_frame);
// The level of the range that it ends; kFailed: there is none.
int pop(uint32_t domain, const uint64_t* hook_frame);
// Returns the range's id; 0: it is not recorded.
uint64_t start(uint32_t name, uint64_t items, const uint64_t* hook_frame);
void end(uint64_t range, const uint64_t* hook_frame);
void mark(uint32_t name, const uint64_t* hook_frame);

}  // namespace heapprof::agent::nvtx
