// agent/api.cc: the functions behind shared/include/heapprof/heapprof.h. A program may call them at any time: they take
// no lock, allocate nothing, and return an error if they cannot answer.
#include "agent/process/arena.h"
#include "agent/process/early.h"
#include "agent/process/names.h"
#include "agent/process/question.h"
#include "agent/process/state.h"
#include "agent/record/record_fast.h"
#include "agent/start/start.h"
#include "shared/include/heapprof/heapprof.h"

#include <stddef.h>

extern "C" __attribute__((visibility("default"))) const heapprof_functions* heapprof_agent_functions();

namespace heapprof::agent {

namespace {

// A forked child that has not allocated yet begins its session with this call.
int is_recording() {
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_session();
  const bool is_on = g_fork_page.state == AgentState::kOn && !is_collector_dead() &&
                     g_control->detach.load(std::memory_order_relaxed) == wire::Detach::kNo;
  return is_on ? 1 : 0;
}

const char* version() { return HEAPPROF_VERSION; }

// A handler that interrupted an event does not wait: the collector may wait for the end of that event.
bool may_ask() { return !is_in_event() && (t_flags & kThreadInside) == 0 && may_ask_kernel(); }

int ask_of_device(Asking asking, Given* given, heapprof_stats* stats) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  if (asking.device == nullptr) asking.device = "host";
  const Answer answer = may_ask() ? ask(asking, given) : Answer::kNone;
  if (answer == Answer::kNone) return HEAPPROF_UNAVAILABLE;
  if (answer == Answer::kUnknown) return HEAPPROF_UNKNOWN_DEVICE;
  const wire::DeviceStatistics& of = given->statistics.device;
  if (stats != nullptr) {
    *stats = {of.live_bytes,       of.live_blocks,       of.peak_bytes,  of.peak_blocks,
              of.phase_peak_bytes, of.phase_peak_blocks, of.total_bytes, of.total_blocks};
  }
  return HEAPPROF_OK;
}

int get_stats(const char* device, heapprof_stats* stats) {
  Given given;
  return ask_of_device({wire::QuestionKind::kDevice, device}, &given, stats);
}

int begin_phase(const char* device, heapprof_stats* stats) {
  Given given;
  return ask_of_device({wire::QuestionKind::kDevicePhase, device}, &given, stats);
}

int begin_measurement(const char* device, int begins_phase, heapprof_stats* stats, uint64_t* measurement) {
  const wire::QuestionKind kind =
      begins_phase != 0 ? wire::QuestionKind::kBeginMeasuredPhase : wire::QuestionKind::kBeginMeasurement;
  Given given;
  const int result = ask_of_device({kind, device}, &given, stats);
  *measurement = given.measurement;
  return result;
}

int end_measurement(const char* device, uint64_t measurement, heapprof_stats* stats) {
  Given given;
  return ask_of_device({wire::QuestionKind::kEndMeasurement, device, ThreadKey{}, measurement}, &given, stats);
}

int explain_measurement(uint64_t measurement, int measure, char* text, uint64_t text_bytes) {
  if (text_bytes == 0) return HEAPPROF_UNAVAILABLE;
  text[0] = 0;
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  Given given;
  given.text = text;
  given.text_room = text_bytes;
  const Asking asking = {wire::QuestionKind::kExplain, "", ThreadKey{}, measurement,
                         static_cast<wire::Measure>(measure)};
  return may_ask() && ask(asking, &given) == Answer::kGiven ? HEAPPROF_OK : HEAPPROF_UNAVAILABLE;
}

int get_thread_stats(heapprof_thread_stats* stats) {
  if (is_recording() == 0) return HEAPPROF_INACTIVE;
  if (!may_ask()) return HEAPPROF_UNAVAILABLE;
  const Context* const context = t_context;
  if (context == nullptr || !is_usable(context)) {  // this thread has not allocated yet
    *stats = {};
    return HEAPPROF_OK;
  }
  Given given;
  const Asking asking = {wire::QuestionKind::kThread, "", {context->ring, context->thread_id}};
  if (context->is_shared || ask(asking, &given) != Answer::kGiven) return HEAPPROF_UNAVAILABLE;
  const wire::ThreadStatistics& of = given.statistics.thread;
  *stats = {of.total_bytes, of.total_blocks, of.freed_blocks};
  return HEAPPROF_OK;
}

// The name's number in this session, which *name caches; 0: nothing is recorded. A forked child has an arena of its
// own.
uint32_t number_of(heapprof_name* name) {
  const uint64_t key = __atomic_load_n(&name->key, __ATOMIC_RELAXED);
  if (HEAPPROF_LIKELY(key >> 32 == g_session && g_fork_page.state == AgentState::kOn))
    return static_cast<uint32_t>(key);
  if (is_recording() == 0) return 0;
  const uint32_t number = number_of_name(name->category, name->text);
  __atomic_store_n(&name->key, static_cast<uint64_t>(g_session) << 32 | number, __ATOMIC_RELAXED);
  return number;
}

void begin_scope(heapprof_scope* scope, heapprof_name* name) {
  const uint64_t key = __atomic_load_n(&name->key, __ATOMIC_RELAXED);
  if (HEAPPROF_LIKELY(key >> 32 == g_session && key != 0)) {
    scope->life = g_session;
    scope->id = record_scope_fast<wire::ScopeOperation::kBegin>(static_cast<uint32_t>(key), 0, HEAPPROF_HOOK_FRAME());
    if (HEAPPROF_LIKELY(scope->id != 0)) return;
  }
  const uint32_t number = number_of(name);
  if (number == 0) return;
  scope->life = g_session;
  scope->id = record_scope(wire::ScopeOperation::kBegin, number, 0, HEAPPROF_HOOK_FRAME());
}

// True if the scope began in this session: a forked child is in none of its parent's scopes.
bool is_of_this_session(const heapprof_scope* scope) {
  return HEAPPROF_LIKELY(scope->life == g_session && g_fork_page.state == AgentState::kOn);
}

void end_scope(const heapprof_scope* scope) {
  if (!is_of_this_session(scope)) return;
  if (scope->items != 0) record_scope_items(scope->id, scope->items, HEAPPROF_HOOK_FRAME());
  if (HEAPPROF_LIKELY(record_scope_fast<wire::ScopeOperation::kEnd>(0, scope->id, HEAPPROF_HOOK_FRAME()) != 0)) return;
  record_scope(wire::ScopeOperation::kEnd, 0, scope->id, HEAPPROF_HOOK_FRAME());
}

void leave_scope(const heapprof_scope* scope) {
  if (is_of_this_session(scope)) record_scope(wire::ScopeOperation::kLeave, 0, scope->id, HEAPPROF_HOOK_FRAME());
}

void enter_scope(const heapprof_scope* scope) {
  if (is_of_this_session(scope)) record_scope(wire::ScopeOperation::kEnter, 0, scope->id, HEAPPROF_HOOK_FRAME());
}

void mark(heapprof_name* name) {
  const uint32_t number = number_of(name);
  if (number != 0) record_scope(wire::ScopeOperation::kMark, number, 0, HEAPPROF_HOOK_FRAME());
}

void name_block(const void* address, heapprof_name* name) {
  if (address == nullptr) return;
  const uint32_t number = number_of(name);
  if (number != 0) record_block_name(address, number, HEAPPROF_HOOK_FRAME());
}

void pause_thread() {
  if (is_recording() != 0) record_scope(wire::ScopeOperation::kPause, 0, 0, HEAPPROF_HOOK_FRAME());
}

void resume_thread() {
  if (is_recording() != 0) record_scope(wire::ScopeOperation::kResume, 0, 0, HEAPPROF_HOOK_FRAME());
}

void tell_tensor(const void* address, uint32_t role, heapprof_name* name) {
  if (address == nullptr || !wire::is_tensor_role(role) || is_recording() == 0) return;
  const uint32_t number = name == nullptr ? 0 : number_of(name);
  record_tensor(address, static_cast<wire::TensorRole>(role), number, HEAPPROF_HOOK_FRAME());
}

void take_snapshot(heapprof_name* name, int with_tensors) {
  const uint32_t number = number_of(name);
  if (number != 0)
    record_scope(wire::ScopeOperation::kSnapshot, number, with_tensors != 0 ? 1 : 0, HEAPPROF_HOOK_FRAME());
}

constexpr heapprof_functions kFunctions = {HEAPPROF_FUNCTIONS_COUNT,
                                           is_recording,
                                           version,
                                           get_stats,
                                           begin_phase,
                                           get_thread_stats,
                                           begin_scope,
                                           end_scope,
                                           leave_scope,
                                           enter_scope,
                                           mark,
                                           begin_measurement,
                                           end_measurement,
                                           explain_measurement,
                                           name_block,
                                           pause_thread,
                                           resume_thread,
                                           tell_tensor,
                                           take_snapshot};

}  // namespace

}  // namespace heapprof::agent

// Before the agent is relocated, the table holds no functions yet: then the caller gets nullptr, as without an agent.
const heapprof_functions* heapprof_agent_functions() {
  return heapprof::agent::is_relocated() ? &heapprof::agent::kFunctions : nullptr;
}
