// agent/api.cc: the functions behind shared/include/heapprof/heapprof.h. A program may call them at any time: they take
// no lock, allocate nothing, and say so where they cannot answer.
#include "agent/process/arena.h"
#include "agent/process/question.h"
#include "agent/process/state.h"
#include "agent/record/context.h"
#include "agent/start/start.h"
#include "shared/include/heapprof/heapprof.h"

#include <stddef.h>

extern "C" __attribute__((visibility("default"))) const heapprof_functions* heapprof_agent_functions();

namespace heapprof::agent {

namespace {

// A forked child that has not allocated yet begins its life with the question.
int is_recording() {
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_life();
  const bool is_on = g_fork_page.state == AgentState::kOn && !is_collector_dead() &&
                     g_control->detach.load(std::memory_order_relaxed) == 0;
  return is_on ? 1 : 0;
}

const char* version() { return HEAPPROF_VERSION; }

// A handler that interrupted an event waits for nobody: the collector may wait for the end of that event.
bool may_ask() { return !is_in_event() && (t_flags & kThreadInside) == 0 && may_ask_kernel(); }

int ask_of_device(wire::QuestionKind kind, const char* device, heapprof_stats* stats) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  wire::Statistics statistics{};
  const Answer answer =
      may_ask() ? ask(kind, device == nullptr ? "host" : device, ThreadKey{}, &statistics) : Answer::kNone;
  if (answer == Answer::kNone) return HEAPPROF_UNAVAILABLE;
  if (answer == Answer::kUnknown) return HEAPPROF_UNKNOWN_DEVICE;
  const wire::DeviceStatistics& of = statistics.device;
  if (stats != nullptr) {
    *stats = {of.live_bytes,       of.live_blocks,       of.peak_bytes,  of.peak_blocks,
              of.phase_peak_bytes, of.phase_peak_blocks, of.total_bytes, of.total_blocks};
  }
  return HEAPPROF_OK;
}

int get_stats(const char* device, heapprof_stats* stats) {
  return ask_of_device(wire::QuestionKind::kDevice, device, stats);
}

int begin_phase(const char* device, heapprof_stats* stats) {
  return ask_of_device(wire::QuestionKind::kDevicePhase, device, stats);
}

int get_thread_stats(heapprof_thread_stats* stats) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  if (!may_ask()) return HEAPPROF_UNAVAILABLE;
  const Context* const context = t_context;
  if (context == nullptr || !is_usable(context)) {  // it has not allocated yet
    *stats = {};
    return HEAPPROF_OK;
  }
  wire::Statistics statistics{};
  const ThreadKey key = {context->ring, context->thread_id};
  if (context->is_shared || ask(wire::QuestionKind::kThread, "", key, &statistics) != Answer::kGiven)
    return HEAPPROF_UNAVAILABLE;
  *stats = {statistics.thread.total_bytes, statistics.thread.total_blocks, statistics.thread.freed_blocks};
  return HEAPPROF_OK;
}

constexpr heapprof_functions kFunctions = {HEAPPROF_FUNCTIONS_COUNT, is_recording, version, get_stats, begin_phase,
                                           get_thread_stats};

}  // namespace

}  // namespace heapprof::agent

const heapprof_functions* heapprof_agent_functions() { return &heapprof::agent::kFunctions; }
