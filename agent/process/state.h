// agent/process/state.h: what every part of the agent asks about this process: does it record, since which age, under a
// filter?
//
// Guarantees
//  - ForkPage lies in a page that the kernel wipes in every forked child (MADV_WIPEONFORK), _Fork() and raw fork
//    included; so a child does not write into its parent's rings (tests/integration/processes/forks.sh,
//    forks_in_handlers.sh). A vfork child keeps it and shares our state.
//  - On any doubt turn_off() ends recording, says why in Control::stop_reason, and leaves the program running.
//
// Context:  anywhere in the agent, signal handlers and forked children included. agent/start writes what stands here.
#pragma once

#include "shared/wire.h"

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

enum class AgentState : uint32_t {
  kUnknown = 0,  // not started yet, or a forked child before its first allocation
  kOn = 1,
  kOff = 2,  // everything is passed through from now on; a forked child starts anew
};

// Everything here is zero again in a forked child.
struct alignas(4096) ForkPage {
  AgentState state;
  std::atomic<uint32_t> age;          // current_age() while events are recorded; 0: they are not
  std::atomic<uint32_t> lock;         // spin lock of the slow paths, taken with signals blocked
  std::atomic<uint32_t> module_lock;  // agent/process/modules.cc
  std::atomic<uint32_t> device_lock;  // agent/cuda/device_limit.cc
  std::atomic<uint32_t> asking_lock;  // agent/cuda/holdings.cc
  std::atomic<uint32_t> has_own_sum;  // agent/hooks/host_limit.cc: 1: what is reserved there is this process's
};
extern ForkPage g_fork_page;

extern int g_pid;                      // process id of this life; a vfork child's own is another
extern uint32_t g_birth;               // the age at which this life began (agent/process/age.h); 0: none has yet
extern const char* g_single_threaded;  // points to a byte that is not 0 while no stamp is needed
extern bool g_use_tsc;                 // stamps are the time stamp counter's; false: Control::sequence gives them
extern bool g_producer_fence;          // FenceMode::kProducerFence

// Flags of a thread that is inside the agent itself.
inline constexpr uint32_t kThreadSuppressed = 1;  // the reference unwinder runs: its allocations are not the program's
inline constexpr uint32_t kThreadSelfTest = 2;
inline constexpr uint32_t kThreadStarting = 4;
extern constinit thread_local uint32_t t_flags __attribute__((tls_model("initial-exec")));
extern volatile uint32_t g_self_test_events;  // volatile: the compiler knows that malloc changes no variable

// Ends recording in this process; the first reason is kept. pre: an arena is mapped.
void turn_off(wire::StopReason reason);

// Says that from now on no system call is ours to make in this process and its children.
void mark_filtered();
// True after mark_filtered(), or if the collector has seen a filter.
bool is_filtered();
// Lets another thread run while it is waited for; without a system call where there may be none.
void let_others_run();

// True if the collector has died. Cost: one load.
bool is_collector_dead();

}  // namespace heapprof::agent
