// agent/api.cc: the functions behind include/heapprof/heapprof.h. A program may call them at any time: they take no
// lock, allocate nothing, and say so where they cannot answer.
#include "agent/include/heapprof/heapprof.h"
#include "agent/process/arena.h"
#include "agent/process/question.h"
#include "agent/process/state.h"
#include "agent/record/context.h"
#include "agent/start/start.h"

#include <stddef.h>

extern "C" __attribute__((visibility("default"))) const heapprof_functions* heapprof_agent_functions();

namespace heapprof::agent {

namespace {

// A forked child that has not allocated yet begins its life with the question.
int is_recording() {
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_life();
  return g_fork_page.state == AgentState::kOn ? 1 : 0;
}

const char* version() { return HEAPPROF_VERSION; }

// A handler that interrupted an event waits for nobody: the collector may wait for the end of that event.
int ask_for(wire::QuestionKind kind, const char* device, uint32_t ring, wire::Statistics* statistics) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  if (is_in_event() || (t_flags & kThreadInside) != 0) return HEAPPROF_UNAVAILABLE;
  switch (ask(kind, device, ring, statistics)) {
    case Answer::kGiven: return HEAPPROF_OK;
    case Answer::kUnknownDevice: return HEAPPROF_UNKNOWN_DEVICE;
    case Answer::kNone: break;
  }
  return HEAPPROF_UNAVAILABLE;
}

int ask_of_device(wire::QuestionKind kind, const char* device, heapprof_stats* stats) {
  wire::Statistics statistics{};
  const int result = ask_for(kind, device == nullptr ? "host" : device, 0, &statistics);
  if (result != HEAPPROF_OK || stats == nullptr) return result;
  const wire::DeviceStatistics& of = statistics.device;
  *stats = {of.live_bytes,       of.live_blocks,       of.peak_bytes,  of.peak_blocks,
            of.phase_peak_bytes, of.phase_peak_blocks, of.total_bytes, of.total_blocks};
  return result;
}

int get_stats(const char* device, heapprof_stats* stats) {
  return ask_of_device(wire::QuestionKind::kDevice, device, stats);
}

int begin_phase(const char* device, heapprof_stats* stats) {
  return ask_of_device(wire::QuestionKind::kDevicePhase, device, stats);
}

int get_thread_stats(heapprof_thread_stats* stats) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  const Context* const context = t_context;
  if (context == nullptr || !is_usable(context)) {  // it has not allocated yet
    *stats = {};
    return HEAPPROF_OK;
  }
  if (context->is_shared) return HEAPPROF_UNAVAILABLE;
  wire::Statistics statistics{};
  const int result = ask_for(wire::QuestionKind::kThread, "", context->ring, &statistics);
  if (result == HEAPPROF_OK)
    *stats = {statistics.thread.total_bytes, statistics.thread.total_blocks, statistics.thread.freed_blocks};
  return result;
}

constexpr heapprof_functions kFunctions = {HEAPPROF_FUNCTIONS_COUNT, is_recording, version, get_stats, begin_phase,
                                           get_thread_stats};

}  // namespace

}  // namespace heapprof::agent

const heapprof_functions* heapprof_agent_functions() { return &heapprof::agent::kFunctions; }
