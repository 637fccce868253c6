// agent/cuda/gpu_time.h: how long kernels take on the device, by scope, from the driver's events (--gpu-time).
//
// An interval is what a thread launches into one stream between two changes of its scopes, or two waits. It lasts from
// an event before the first launch to an event after the last launch; the agent records the latter again after each
// launch. A scope's time is that of its intervals. The time between two launches of one interval is included, even if
// the device was idle.
//
//   deferred   complete intervals are read when the program waits for the device, and at its end
//   scope      the thread waits for all of its intervals when a scope ends
//   immediate  the thread waits after each launch
//
// Guarantees
//  - An event is recorded only in a stream that the driver says is not being captured.
//  - A launch without a time is counted (Control::gpu_captured, gpu_untimed). The collector knows of an interval that
//    was never read, as its begin was recorded.
//  - The driver's functions are called directly, not through the agent's hooks, so that none of this counts as the
//    program's. The program's results and errno are untouched.
// Not provided: more than kMostIntervals unread intervals; threads without a ring of their own.
// Context:  wrappers of driver functions, any thread; no lock.
// Cost:     two driver calls a launch (the query whether it is captured, the event after it), one more for an interval;
//           with `deferred` two queries for each interval at a wait.
#pragma once

#include "agent/arch/arch.h"

#include <stdint.h>

namespace heapprof::agent {

inline constexpr uint32_t kMostIntervals = 4096;
// Returned instead of an interval's index: why there is no interval.
inline constexpr uint32_t kUntimedLaunch = UINT32_MAX;
inline constexpr uint32_t kCapturedLaunch = UINT32_MAX - 1;

// Called once, by the constructor: finds the function by which libc reports the program's end.
void settle_gpu_times();
bool measures_gpu_time();

// Around a launch. per_thread: the call is the variant for the per-thread default stream. The result of
// begin_timed_launch goes to end_timed_launch. pre: measures_gpu_time()
uint32_t begin_timed_launch(void* stream, bool per_thread, HookFrame hook_frame);
void end_timed_launch(uint32_t interval, bool is_launched, HookFrame hook_frame);

// Call when the program has waited for the device: reads the complete intervals.
void read_gpu_times(HookFrame hook_frame);
// Call when the context is about to end, and its events with it.
void leave_gpu_context(const void* context, HookFrame hook_frame);
// Call when another session begins: the parent's events no longer belong to any interval.
void forget_gpu_times();

}  // namespace heapprof::agent
