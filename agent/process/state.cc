// agent/process/state.cc: the variables of state.h. They are separate from start/start.cc, which writes most of them,
// so that code that asks about the process (rings, rules, wrappers) does not depend on how the agent starts.
#include "agent/process/state.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/own_variables.h"

#include <string.h>

namespace heapprof::agent {
namespace {

constexpr char kNever = 0;
// Counts of filters that were announced and have not failed: those of the whole process, and those of single threads.
std::atomic<uint32_t> g_process_filters{0};
std::atomic<uint32_t> g_thread_filters{0};
// those of g_thread_filters and g_process_filters that the first thread announced
std::atomic<uint32_t> g_leader_filters{0};

wire::FilterState seen_filter() {
  return g_control != nullptr ? g_control->filter.load(std::memory_order_relaxed) : wire::FilterState::kNone;
}

// The calling thread is under no filter, for certain.
bool is_surely_unfiltered() {
  if (!has_own_variables()) return false;
  begin_own_variables();
  return (t_flags & kThreadUnfiltered) != 0;
}

}  // namespace

constinit ForkPage g_fork_page{};  // a hook is called before any constructor runs
int g_pid = 0;
uint32_t g_session = 0;
const char* g_single_threaded = &kNever;
bool g_use_tsc = false;
uint32_t g_fences = 0;
volatile uint32_t g_self_test_events = 0;
constinit thread_local uint32_t t_flags __attribute__((tls_model("initial-exec")));

void turn_off(wire::StopReason reason) {
  uint32_t none = 0;
  g_control->stop_reason.compare_exchange_strong(none, static_cast<uint32_t>(reason), std::memory_order_relaxed);
  g_fork_page.generation.store(0, std::memory_order_relaxed);
  g_fork_page.state = AgentState::kOff;
}

FilterNotice note_filter(FilterReach reach, bool is_leader) {
  const FilterNotice notice{reach, is_leader, is_surely_unfiltered()};
  if (notice.was_unfiltered) t_flags &= ~kThreadUnfiltered;
  if (is_leader) g_leader_filters.fetch_add(1, std::memory_order_relaxed);
  (reach == FilterReach::kProcess ? g_process_filters : g_thread_filters).fetch_add(1, std::memory_order_seq_cst);
  return notice;
}

void withdraw_filter(const FilterNotice& notice) {
  (notice.reach == FilterReach::kProcess ? g_process_filters : g_thread_filters)
      .fetch_sub(1, std::memory_order_relaxed);
  if (notice.is_leader) g_leader_filters.fetch_sub(1, std::memory_order_relaxed);
  if (notice.was_unfiltered) t_flags |= kThreadUnfiltered;
}

void mark_filtered() { g_process_filters.fetch_add(1, std::memory_order_relaxed); }
void unmark_filtered() { g_process_filters.fetch_sub(1, std::memory_order_relaxed); }

void forget_filters() {
  g_thread_filters.store(0, std::memory_order_relaxed);
  g_leader_filters.store(0, std::memory_order_relaxed);
}

bool has_filters() {
  return g_process_filters.load(std::memory_order_relaxed) != 0 ||
         g_thread_filters.load(std::memory_order_relaxed) != 0 || seen_filter() == wire::FilterState::kCertain;
}

bool is_filtered() {
  if (!has_filters()) return false;
  if (g_process_filters.load(std::memory_order_relaxed) != 0) return true;
  // The collector looks at the first thread only. If that thread has a filter but announced none, a `syscall`
  // instruction of the program installed it, in unknown threads.
  if (seen_filter() == wire::FilterState::kCertain && g_leader_filters.load(std::memory_order_relaxed) == 0)
    return true;
  return !is_surely_unfiltered();
}

bool may_ask_kernel() { return seen_filter() != wire::FilterState::kPossible && !is_filtered(); }

void let_others_run(uint32_t round) {
  constexpr uint32_t kYields = 64;
  const timespec sleep{0, 50'000};
  if (is_filtered()) {
    pause_processor();
  } else if (round < kYields) {
    sys_yield();
  } else {
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&sleep), 0);
  }
}

bool is_collector_dead() {
  uint32_t word;
  memcpy(&word, g_control->liveness, sizeof word);
  return (word & wire::kFutexOwnerDied) != 0;
}

bool has_collector_left() {
  return is_collector_dead() || g_control->detach.load(std::memory_order_relaxed) != wire::Detach::kNo;
}

}  // namespace heapprof::agent
