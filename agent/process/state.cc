// agent/process/state.cc: the variables of state.h. They stand apart from start/start.cc, which writes most of them, so
// that what asks about the process (rings, rules, wrappers) does not depend on how the agent starts.
#include "agent/process/state.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"

#include <string.h>

namespace heapprof::agent {
namespace {

constexpr char kNever = 0;
bool g_is_filtered = false;  // for certain, and not only by what the arena says

}  // namespace

constinit ForkPage g_fork_page{};  // before any constructor runs, a hook has been called
int g_pid = 0;
uint32_t g_birth = 0;
const char* g_single_threaded = &kNever;
bool g_use_tsc = false;
bool g_producer_fence = false;
volatile uint32_t g_self_test_events = 0;
constinit thread_local uint32_t t_flags __attribute__((tls_model("initial-exec")));

void turn_off(wire::StopReason reason) {
  uint32_t none = 0;
  g_control->stop_reason.compare_exchange_strong(none, static_cast<uint32_t>(reason), std::memory_order_relaxed);
  g_fork_page.age.store(0, std::memory_order_relaxed);
  g_fork_page.state = AgentState::kOff;
}

void mark_filtered() { g_is_filtered = true; }

bool is_filtered() {
  if (g_is_filtered) return true;
  return g_control != nullptr && g_control->filter.load(std::memory_order_relaxed) == wire::FilterState::kCertain;
}

void let_others_run() { is_filtered() ? __builtin_ia32_pause() : sys_yield(); }

bool is_collector_dead() {
  uint32_t word;
  memcpy(&word, g_control->liveness, sizeof word);
  return (word & wire::kFutexOwnerDied) != 0;
}

}  // namespace heapprof::agent
