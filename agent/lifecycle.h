// agent/lifecycle.h: how the agent starts in a process, in a forked child, and how it stops.
//
// Guarantees
//  - The state lies in a page that the kernel wipes in every forked child (MADV_WIPEONFORK), _Fork() and raw fork included; so
//    a child never writes into its parent's rings. A vfork child keeps it and shares our state.
//  - No thread, no signal handler, no descriptor kept, nothing at exit, no lock that a fork could leave locked.
//  - On any doubt the agent switches off, says why in Control::stop_reason, and leaves the program running.
//
// Context:  start-up, first allocation after fork.
#pragma once

#include "shared/wire.h"

#include <atomic>
#include <cstdint>

namespace heapprof::agent {

enum class AgentState : uint32_t {
  kUnknown = 0,  // not started, or a forked child
  kOn = 1,
  kOff = 2,  // pass everything through, for ever
};

// Everything here is zero again in a forked child.
struct alignas(4096) ForkPage {
  AgentState state;
  std::atomic<uint32_t> lock;         // spin lock of the slow paths, taken with signals blocked
  std::atomic<uint32_t> module_lock;  // agent/modules.cc
  std::atomic<uint32_t> device_lock;  // agent/device_limit.cc
  std::atomic<uint32_t> asking_lock;  // agent/device_holdings.cc
  std::atomic<uint32_t> has_own_sum;  // agent/host_limit.cc: what is reserved there is this process's
};
extern ForkPage g_fork_page;

extern int g_pid;                           // of this life; a vfork child has another one
extern uint32_t g_life;                     // 1 in the started program, one more in each forked child
extern std::atomic<uint32_t> g_generation;  // number of times that code may have been unloaded
extern const char* g_single_threaded;       // points to a byte that is not 0 while no stamp is needed
extern bool g_use_tsc;                      // else Control::sequence
extern bool g_producer_fence;

// Flags of a thread that is inside the agent itself.
inline constexpr uint32_t kThreadSuppressed = 1;  // the reference unwinder runs: its allocations are not the program's
inline constexpr uint32_t kThreadSelfTest = 2;
inline constexpr uint32_t kThreadStarting = 4;
extern constinit thread_local uint32_t t_flags __attribute__((tls_model("initial-exec")));
extern volatile uint32_t g_self_test_events;  // volatile: the compiler knows that malloc changes no variable

// Finds the real functions; once. Every hook's pointer leads here until it is done.
void resolve_real_functions();

// Starts recording in this process if a collector wants it. Returns true if events can be recorded now.
bool start_life();

void turn_off(wire::StopReason reason);

// The program is about to filter its system calls: what needs any is done now, and no more from now on.
void expect_filter();
// True from then on, or if the collector has seen a filter.
bool is_filtered();
// Whether the loader's lock may be waited for: not by a system call of ours under a filter, and not in a forked child, which may have
// been left it by a thread that it has not.
bool may_wait_for_loader();

// While another thread is waited for: without a system call where there may be none.
void let_others_run();

// True if the collector has died. Cost: one load.
bool is_collector_dead();

// An object is being unloaded: rules, modules and functions found so far may be void. In any state.
void note_unloading();

// A spin lock in the fork page; pre: signals are blocked.
void lock(std::atomic<uint32_t>& word);
bool try_lock(std::atomic<uint32_t>& word);
void unlock(std::atomic<uint32_t>& word);

}  // namespace heapprof::agent
