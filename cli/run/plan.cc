// cli/run/plan.cc: translates the flags of a run into the options of collectors and agents, so that these need not know
// the flags.
#include "cli/run/plan.h"

#include "cli/collect/clock.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/run/device_limits.h"
#include "cli/run/profile_path.h"
#include "cli/target/machine.h"

#include <sched.h>

namespace heapprof::cli {

namespace {

wire::ClockMode choose_clock(ClockChoice choice) {
  switch (choice) {
    case ClockChoice::kTsc: return wire::ClockMode::kTsc;
    case ClockChoice::kSequence: return wire::ClockMode::kSequence;
    case ClockChoice::kAuto: break;
  }
  return detect_clock_mode();
}

wire::UnwinderKind choose_unwinder(const RunOptions& options) {
  if (options.verify_stacks) return wire::UnwinderKind::kVerify;
  switch (options.unwinder) {
    case UnwinderChoice::kLibunwind: return wire::UnwinderKind::kLibunwind;
    case UnwinderChoice::kFramePointers: return wire::UnwinderKind::kFramePointers;
    case UnwinderChoice::kHeapprof: break;
  }
  return wire::UnwinderKind::kHeapprof;
}

// Whether a second collector thread is likely to find an idle core. That takes four cores: one for the program, one for
// the collector, and two more. With limited memory there is no room for threads.
bool has_idle_core() {
  constexpr int kEnough = 4;
  cpu_set_t cores;
  return !is_memory_limited() && sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) >= kEnough;
}

}  // namespace

ProcessPlan make_plan(const RunOptions& options) {
  ProcessPlan plan;
  plan.collector.clock_mode = choose_clock(options.clock);
  switch (options.fence) {
    case FenceChoice::kAuto: break;
    case FenceChoice::kExpedited: plan.collector.fence_mode = wire::FenceMode::kMembarrierExpedited; break;
    case FenceChoice::kGlobal: plan.collector.fence_mode = wire::FenceMode::kMembarrierGlobal; break;
    case FenceChoice::kProducer: plan.collector.fence_mode = wire::FenceMode::kProducerFence; break;
  }
  plan.fence_forced = options.fence != FenceChoice::kAuto;
  plan.collector.full_policy = options.on_full == OnFull::kDrop ? wire::FullPolicy::kDrop : wire::FullPolicy::kWait;
  plan.collector.stall_timeout_ms = static_cast<uint32_t>(options.stall_timeout_s * 1000);
  plan.collector.unwinder = choose_unwinder(options);
  plan.follow = !options.no_follow;
  plan.follow_only = options.follow_only;
  plan.leaves_inner_allocators = options.no_inner_allocators;
  plan.root_command = options.program;
  plan.machine = describe_machine();
  plan.max_memory_bytes = options.max_memory_bytes;
  plan.collector.hooks_deep_bind = options.hooks_deep_bind;
  plan.collector.recorded = options.recorded;
  plan.collector.starts_paused = options.start.kind != StartKind::kAtOnce;
  plan.collector.awaited_mark = options.start.mark;
  plan.collector.estimates_gpu = options.estimates_gpu;
  plan.collector.gpu_time = options.gpu_time;
  plan.collector.snapshot_interval_ns = options.snapshot_interval_ns;
  plan.collector.trace_events = options.trace_events;
  plan.collector.leak_check = options.leak_check;
  plan.collector.records_nvtx = !options.no_nvtx;
  plan.collector.records_objects = options.python_objects;
  plan.collector.records_operators = options.torch_operators;
  plan.collector.reads_python = !options.no_python;
  if (const Result<DeviceLimits> limits = parse_limits(options.limits)) plan.collector.limits = *limits;
  plan.has_second_thread = options.collector_threads == ThreadsChoice::kTwo ||
                           (options.collector_threads == ThreadsChoice::kAuto && has_idle_core());
  return plan;
}

}  // namespace heapprof::cli
