// agent/cuda/gpu_time.cc: all threads share a table of intervals. A thread takes an interval by compare-and-swap and
// gives it back. So a thread that reads complete intervals and an interval's own thread never use its events at the
// same time. Pairs of events are created for a context 64 at a time, and then reused.
//
// If an interval was read while its thread is still in the same scope, it is over: the next launch begins another.
#include "agent/cuda/gpu_time.h"

#include "agent/cuda/driver.h"
#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/record/clock.h"
#include "agent/record/context.h"
#include "agent/record/record.h"

namespace heapprof::agent {

namespace {

using wire::GpuTimeMode;

constexpr uint32_t kPairsAtOnce = 64;
constexpr uint32_t kStreamsOfThread = 8;  // streams into which a thread launches in one scope; with more, its oldest
                                          // interval ends

enum class IntervalState : uint32_t {
  kBlank = 0,  // it has no events
  kFree = 1,
  kTaken = 2,  // a thread is using it
  kOpen = 3,   // its end event was recorded; no thread is using it
};

struct Interval {
  std::atomic<IntervalState> state;  // pairs with itself: a thread that takes it (acquire) sees what the last one wrote
                                     // (release)
  bool per_thread;
  bool has_end;
  uint32_t changes;  // Context::scope_changes at its begin
  uint64_t id;
  void* stream;
  const void* context;
  void* begin;
  void* end;
};
HEAPPROF_LARGE constinit Interval g_intervals[kMostIntervals] = {};
std::atomic<uint32_t> g_used{0};     // intervals that ever had events are in [0, n)
std::atomic<uint32_t> g_next{0};     // where the search for a free one begins
std::atomic<uint64_t> g_last_id{0};  // the latest interval's id
std::atomic<bool> g_is_full{false};  // no interval was free, and none was given back since
std::atomic<bool> g_has_no_events{false};

// The intervals that a ring's owner began last. By now an interval may be free, or belong to another thread, with
// another id.
struct Known {
  uint32_t interval;
  uint64_t id;  // 0: none
};
HEAPPROF_LARGE Known g_known[wire::kMaxRings][kStreamsOfThread];

GpuTimeMode mode() { return g_control == nullptr ? GpuTimeMode::kOff : g_control->gpu_time; }

void count(std::atomic<uint64_t>& counter, uint64_t more = 1) { counter.fetch_add(more, std::memory_order_relaxed); }

bool take(Interval* interval, IntervalState from) {
  return interval->state.compare_exchange_strong(from, IntervalState::kTaken, std::memory_order_acquire);
}
void give(Interval* interval, IntervalState to) {
  interval->state.store(to, std::memory_order_release);
  if (to == IntervalState::kFree && g_is_full.load(std::memory_order_relaxed))
    g_is_full.store(false, std::memory_order_relaxed);
}

bool record_event(void* event, const Interval& interval) {
  const CudaFunction function = interval.per_thread ? CudaFunction::cuEventRecord_ptsz : CudaFunction::cuEventRecord;
  return ask_function(real_cuda(function), event, interval.stream);
}

// Converts the bits of the driver's float, in milliseconds, to nanoseconds: the agent uses no floating-point registers.
uint64_t ns_of(uint32_t milliseconds) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  const uint32_t exponent = milliseconds >> 23 & 0xff;
  if (milliseconds >> 31 != 0 || exponent == 0) return 0;
  const uint64_t scaled = ((milliseconds & 0x7fffff) | 0x800000) * kNsPerMs;  // below 2^44
  const int shift = static_cast<int>(exponent) - 150;
  if (shift >= 0) return shift < 20 ? scaled << shift : UINT64_MAX;
  if (shift < -60) return 0;
  return (scaled + (1ull << (-shift - 1))) >> -shift;
}

// Reads an interval if it is complete. If the driver gives no time for it, the interval is over all the same, without a
// time.
// pre: it is taken, and has an end. False: it is not complete.
bool read(const Interval& interval, HookFrame hook_frame) {
  if (!ask_is_event_complete(interval.end)) return false;
  uint32_t milliseconds = 0;
  if (ask_elapsed_time(&milliseconds, interval.begin, interval.end))
    record_gpu_interval(wire::ScopeOperation::kGpuTime, interval.id, ns_of(milliseconds), hook_frame);
  return true;
}

void read_all(const void* of_context, HookFrame hook_frame) {
  const RelaxedCapture relaxed;
  const uint32_t used = g_used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; ++i) {
    Interval& interval = g_intervals[i];
    if (interval.state.load(std::memory_order_relaxed) != IntervalState::kOpen ||
        !take(&interval, IntervalState::kOpen))
      continue;
    const bool is_over = (of_context == nullptr || interval.context == of_context) && read(interval, hook_frame);
    give(&interval, is_over ? IntervalState::kFree : IntervalState::kOpen);
  }
}

void read_at_end(void*) {
  if (g_fork_page.state != AgentState::kOn || mode() == GpuTimeMode::kOff) return;
  read_all(nullptr, HEAPPROF_HOOK_FRAME());
}

using Register = int (*)(void (*)(void*), void*, void*);
Register g_register_end = nullptr;
std::atomic<bool> g_is_end_expected{false};

// libc runs first what was registered last: so this runs before the driver's own end, which was registered when the
// driver began.
void expect_end() {
  if (g_register_end == nullptr || g_is_end_expected.exchange(true, std::memory_order_relaxed)) return;
  g_register_end(read_at_end, nullptr, nullptr);
}

// Creates pairs of events for a context. False: none could be created.
bool make_pairs(const void* context) {
  const RelaxedCapture relaxed;
  uint32_t made = 0;
  for (uint32_t i = 0; i < kMostIntervals && made < kPairsAtOnce; ++i) {
    Interval& interval = g_intervals[i];
    if (interval.state.load(std::memory_order_relaxed) != IntervalState::kBlank ||
        !take(&interval, IntervalState::kBlank))
      continue;
    interval.context = context;
    if (!ask_new_event(&interval.begin) || !ask_new_event(&interval.end)) {
      give(&interval, IntervalState::kBlank);
      if (made == 0) g_has_no_events.store(true, std::memory_order_relaxed);
      break;
    }
    give(&interval, IntervalState::kFree);
    uint32_t used = g_used.load(std::memory_order_relaxed);
    while (used <= i && !g_used.compare_exchange_weak(used, i + 1, std::memory_order_acq_rel)) {
    }
    ++made;
  }
  return made != 0;
}

// Takes a free interval of the context; nullptr: none is free.
Interval* take_free(const void* context) {
  const uint32_t used = g_used.load(std::memory_order_acquire);
  const uint32_t first = used == 0 ? 0 : g_next.fetch_add(1, std::memory_order_relaxed) % used;
  for (uint32_t look = 0; look < used; ++look) {
    Interval& interval = g_intervals[(first + look) % used];
    if (interval.state.load(std::memory_order_relaxed) != IntervalState::kFree ||
        !take(&interval, IntervalState::kFree))
      continue;
    if (interval.context == context) {
      if (look != 0) g_next.store((first + look + 1) % used, std::memory_order_relaxed);
      return &interval;
    }
    give(&interval, IntervalState::kFree);
  }
  return nullptr;
}

Interval* find_free(HookFrame hook_frame) {
  const void* const context = current_context();
  if (context == nullptr || g_has_no_events.load(std::memory_order_relaxed) ||
      g_is_full.load(std::memory_order_relaxed))
    return nullptr;
  Interval* interval = take_free(context);
  if (interval != nullptr) return interval;
  read_all(nullptr, hook_frame);
  interval = take_free(context);
  if (interval == nullptr && make_pairs(context)) interval = take_free(context);
  if (interval == nullptr && !g_has_no_events.load(std::memory_order_relaxed))
    g_is_full.store(true, std::memory_order_relaxed);
  return interval;
}

uint32_t index_of(const Interval* interval) { return static_cast<uint32_t>(interval - g_intervals); }

// Takes the thread's interval for that stream, and drops those of other scopes. nullptr: it has none.
Interval* take_known(const Context* own, const void* stream, bool per_thread) {
  for (Known& known : g_known[own->ring]) {
    if (known.id == 0) continue;
    Interval* const interval = &g_intervals[known.interval];
    if (!take(interval, IntervalState::kOpen)) {
      known.id = 0;  // it is being read, or is over
      continue;
    }
    const bool is_it = interval->id == known.id && interval->changes == own->scope_changes;
    if (is_it && interval->stream == stream && interval->per_thread == per_thread) return interval;
    if (!is_it && mode() != GpuTimeMode::kScope) known.id = 0;  // in mode kScope the next end of a scope waits for it
    give(interval, IntervalState::kOpen);
  }
  return nullptr;
}

void know(uint32_t ring, const Interval& interval) {
  Known* oldest = &g_known[ring][0];
  for (Known& known : g_known[ring]) {
    if (known.id < oldest->id) oldest = &known;
  }
  *oldest = {index_of(&interval), interval.id};
}

// Waits for the interval's launches. False: the driver refuses.
bool wait_for(const Interval& interval) {
  const RelaxedCapture relaxed;
  const uint64_t start_ticks = read_ticks();
  const bool is_complete = ask_function(real_cuda(CudaFunction::cuEventSynchronize), interval.end);
  const uint64_t end_ticks = read_ticks();
  count(g_control->gpu_waits);
  count(g_control->gpu_wait_ticks, end_ticks > start_ticks ? end_ticks - start_ticks : 0);
  return is_complete;
}

void wait_and_read(Interval* interval, HookFrame hook_frame) {
  bool is_over = wait_for(*interval);
  if (is_over) {
    const RelaxedCapture relaxed;
    is_over = read(*interval, hook_frame);
  }
  give(interval, is_over ? IntervalState::kFree : IntervalState::kOpen);
}

// Called when a scope of the calling thread is about to end.
void wait_at_scope_end(HookFrame hook_frame) {
  if (g_fork_page.state != AgentState::kOn || t_context == nullptr || is_in_event()) return;
  const Context* const own = t_context;
  for (Known& known : g_known[own->ring]) {
    if (known.id == 0) continue;
    Interval* const interval = &g_intervals[known.interval];
    if (take(interval, IntervalState::kOpen)) {
      if (interval->id == known.id) {
        wait_and_read(interval, hook_frame);
      } else {
        give(interval, IntervalState::kOpen);
      }
    }
    known.id = 0;
  }
  read_all(nullptr, hook_frame);  // also what this scope launched before an inner scope
}

}  // namespace

void settle_gpu_times() {
  if (mode() != GpuTimeMode::kOff)
    g_register_end = reinterpret_cast<Register>(find_behind_agent("__cxa_atexit").address);
}

bool measures_gpu_time() { return g_fork_page.state == AgentState::kOn && mode() != GpuTimeMode::kOff; }

uint32_t begin_timed_launch(void* stream, bool per_thread, HookFrame hook_frame) {
  const Context* const own = own_context(hook_frame);
  if (!may_record_event(stream, per_thread)) return kCapturedLaunch;
  Interval* interval = own == nullptr ? nullptr : take_known(own, stream, per_thread);
  if (interval != nullptr) return index_of(interval);
  if (own != nullptr) interval = find_free(hook_frame);
  if (interval == nullptr) return kUntimedLaunch;
  interval->per_thread = per_thread;
  interval->stream = stream;
  interval->changes = own->scope_changes;
  interval->has_end = false;
  interval->id = g_last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  if (record_event(interval->begin, *interval)) return index_of(interval);
  give(interval, IntervalState::kFree);
  return kUntimedLaunch;
}

void end_timed_launch(uint32_t index, bool is_launched, HookFrame hook_frame) {
  if (index >= kMostIntervals) {
    if (is_launched) count(index == kCapturedLaunch ? g_control->gpu_captured : g_control->gpu_untimed);
    return;
  }
  Interval* const interval = &g_intervals[index];
  const bool has_end = is_launched && record_event(interval->end, *interval);
  if (is_launched && !has_end) count(g_control->gpu_untimed);
  if (has_end && !interval->has_end) {
    interval->has_end = true;
    record_gpu_interval(wire::ScopeOperation::kGpuBegin, interval->id, 0, hook_frame);
    if (mode() == GpuTimeMode::kScope) g_at_scope_end = wait_at_scope_end;
    expect_end();
    if (mode() != GpuTimeMode::kImmediate) know(t_context->ring, *interval);
  }
  if (!interval->has_end) return give(interval, IntervalState::kFree);
  if (mode() == GpuTimeMode::kImmediate) return wait_and_read(interval, hook_frame);
  give(interval, IntervalState::kOpen);
}

void read_gpu_times(HookFrame hook_frame) {
  if (measures_gpu_time()) read_all(nullptr, hook_frame);
}

void leave_gpu_context(const void* context, HookFrame hook_frame) {
  if (!measures_gpu_time()) return;
  read_all(context, hook_frame);
  const uint32_t used = g_used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; ++i) {
    Interval& interval = g_intervals[i];
    for (const IntervalState from : {IntervalState::kOpen, IntervalState::kFree}) {
      if (interval.state.load(std::memory_order_relaxed) == from && take(&interval, from))
        give(&interval, interval.context == context ? IntervalState::kBlank : from);
    }
  }
}

void forget_gpu_times() {
  for (Interval& interval : g_intervals) {
    if (interval.state.load(std::memory_order_relaxed) != IntervalState::kBlank)
      interval.state.store(IntervalState::kBlank, std::memory_order_relaxed);
  }
  g_used.store(0, std::memory_order_relaxed);
  g_is_full.store(false, std::memory_order_relaxed);
  g_has_no_events.store(false, std::memory_order_relaxed);
}

}  // namespace heapprof::agent
