// agent/cuda/gpu_time.h: how long kernels take on the device, by scope, from events of the driver's (--gpu-time).
//
// An interval is what a thread launches into one stream between two changes of its scopes, or two waits: from an event
// before the first launch to one behind the last, which is recorded anew behind each. A scope has the time of its
// intervals. What lies between two launches of one interval is in it, also where the device had nothing to do.
//
//   deferred   intervals are read when the program waits for the device, where they are complete, and at its end
//   scope      the thread waits for all of its intervals when a scope ends
//   immediate  the thread waits after each launch
//
// Guarantees
//  - No event is recorded in a stream that is being captured, or that the driver does not say is not.
//  - A launch that has no time is counted (Control::gpu_captured, gpu_untimed); an interval that was never read is
//    known to the collector, which was told of its begin.
//  - The driver's functions are called behind our own hooks: nothing of this counts as the program's. Its results and
//    errno are untouched.
// Not provided: more than kMostIntervals that wait to be read; threads without a ring of their own.
// Context:  wrappers of driver functions, any thread; no lock.
// Cost:     two driver calls a launch (is it captured, the event behind it), one more for an interval; with `deferred`
//           two questions for each interval at a wait.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

inline constexpr uint32_t kMostIntervals = 4096;
// In place of an interval: why there is none.
inline constexpr uint32_t kUntimedLaunch = UINT32_MAX;
inline constexpr uint32_t kCapturedLaunch = UINT32_MAX - 1;

// Once, by the constructor: finds by what function libc tells of the program's end.
void settle_gpu_times();
bool measures_gpu_time();

// Around a launch. per_thread: the call is the variant for the per-thread default stream. What begin_timed_launch gives
// goes to end_timed_launch. pre: measures_gpu_time()
uint32_t begin_timed_launch(void* stream, bool per_thread, const uint64_t* hook_frame);
void end_timed_launch(uint32_t interval, bool is_launched, const uint64_t* hook_frame);

// The program has waited for the device: what is complete is read.
void read_gpu_times(const uint64_t* hook_frame);
// The context is about to end, and its events with it.
void leave_gpu_context(const void* context, const uint64_t* hook_frame);
// Another life begins, in which the parent's events are nobody's.
void forget_gpu_times();

}  // namespace heapprof::agent
