// agent/start/end.cc: only libc knows that a program comes to its end, so libc has to call the agent.
//
// A destructor of the agent would run before those of most libraries, as nothing depends on the agent: blocks that
// those free would count as reachable. The function that is registered first with libc runs last, and the loader's own
// clean-up, which runs all destructors, is registered after the constructors. So the constructor registers a function,
// through libc's own interface, which every C++ program uses: until 32 functions are registered it allocates nothing.
// (Interposing __libc_start_main, to wrap the loader's function that it registers, was rejected: every run would pay
// for what few runs need.)
//
// A caller of exit() relies only on callee-saved registers. While this thread waits, these lie on its stack, between
// the reported address and the frames of its callers.
#include "agent/start/end.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/own_pages.h"
#include "agent/process/state.h"

#include <errno.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr long kSleepNs = 10'000'000;  // then check whether the collector is alive
constexpr uint32_t kSleepMs = 10;

std::atomic<int> g_asking_pid{0};  // the process in which a thread has asked: another thread of it that calls exit()
                                   // does not wait

// True in a forked child, which gets no answer: a signal handler forked during the wait, and returned in the child.
bool is_other_process() {
  return g_fork_page.state != AgentState::kOn || g_asking_pid.load(std::memory_order_relaxed) != g_pid;
}

bool may_go_on() {
  if (is_other_process() || is_collector_dead()) return true;
  return g_control->end_answer.load(std::memory_order_acquire) != 0 ||  // pairs with (I)
         g_control->detach.load(std::memory_order_relaxed) != wire::Detach::kNo;
}

// Waits for the answer. Time that cannot be measured, as signals end each sleep, counts as a millisecond.
void await_answer() {
  uint64_t seen_heartbeat = g_control->heartbeat.load(std::memory_order_relaxed);
  uint32_t still_ms = 0;
  while (!may_go_on()) {
    const long result = sys_futex_wait(&g_control->end_answer, 0, kSleepNs);
    still_ms += result == -ETIMEDOUT ? kSleepMs : is_error(result) ? 1 : 0;
    const uint64_t heartbeat = g_control->heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != seen_heartbeat) still_ms = 0;
    seen_heartbeat = heartbeat;
    if (still_ms >= g_control->stall_timeout_ms) {
      g_control->end_question.store(wire::EndQuestion::kGaveUp, std::memory_order_release);
      return;
    }
  }
}

// This function's frame holds the callee-saved registers of its callers: below the reported address there is nothing of
// theirs.
[[gnu::noinline]] void ask() {
  __builtin_unwind_init();  // spills the registers
  if (g_asking_pid.exchange(g_pid, std::memory_order_relaxed) == g_pid) return;
  g_control->end_stack_avma = stack_pointer();
  g_control->end_thread_avma = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  g_control->end_thread_id = static_cast<uint32_t>(sys_gettid());
  g_control->own_pages_avma = reinterpret_cast<uint64_t>(own_pages());
  g_control->own_pages_count = own_pages_count();
  g_control->end_question.store(wire::EndQuestion::kAsked, std::memory_order_release);  // pairs with (H)
  await_answer();
}

void note_end(void*) {
  if (g_fork_page.state != AgentState::kOn || g_control->leak_check == 0) return;
  if (!may_ask_kernel()) {
    g_control->end_question.store(wire::EndQuestion::kFiltered, std::memory_order_release);
    return;
  }
  if (sys_getpid() == g_pid) ask();
}

}  // namespace

void settle_end() {
  if (g_control == nullptr || g_control->leak_check == 0) return;
  using Register = int (*)(void (*)(void*), void*, void*);
  const auto register_end = reinterpret_cast<Register>(find_behind_agent("__cxa_atexit").address);
  if (register_end != nullptr) register_end(note_end, nullptr, nullptr);  // nullptr: no object, so no unload calls it
}

}  // namespace heapprof::agent
