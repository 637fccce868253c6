// agent/record/reference.h: stacks by libunwind's unw_step, for --verify-stacks and --unwinder=libunwind.
//
// libunwind lives in libheapprof-verify.so, preloaded only on request (agent/verify/): it takes locks and may allocate.
// While it runs, this thread's allocations are not recorded: they are the agent's. It also makes system calls (signal
// masks, reads of memory that may be unmapped). Once a seccomp filter may be installed (is_filtered), the agent's own
// walk is used instead, and counted.
//
// Cost:  10-25 µs an event.
#pragma once

#include "agent/record/context.h"

namespace heapprof::agent {

// True if libheapprof-verify.so is loaded.
bool find_reference_unwinder();
// For a forked child: libunwind takes locks, and another thread may have held one at the fork. From then on the agent's
// own unwinder is used alone.
void forbid_reference_unwinder();

// Captures a stack as capture_stack does, and compares it with the reference (UnwinderKind::kVerify, counted in
// Control) or uses the reference alone (kLibunwind).
void capture_with_reference(Context* context, const StartFrame& caller, StackDelta* delta);

}  // namespace heapprof::agent
