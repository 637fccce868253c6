// agent/process/state.h: the state of this process that every part of the agent needs: whether it records, since which
// generation, and whether it is under a seccomp filter.
//
// Guarantees
//  - ForkPage lies in a page that the kernel wipes in every forked child (MADV_WIPEONFORK), _Fork() and raw fork
//    included; so a child does not write into its parent's rings (tests/integration/processes/forks.sh,
//    forks_in_handlers.sh). A vfork child keeps it and shares its parent's state.
//  - On any doubt turn_off() ends recording, says why in Control::stop_reason, and leaves the program running.
//
// Context:  anywhere in the agent, signal handlers and forked children included. agent/start writes these variables.
#pragma once

#include "shared/wire.h"

#include <stdint.h>

#include <atomic>

// Variables are accessed directly, not through the GOT.
#pragma GCC visibility push(hidden)

namespace heapprof::agent {

enum class AgentState : uint32_t {
  kUnknown = 0,  // not started yet, or a forked child before its first allocation
  kOn = 1,
  kOff = 2,  // everything is passed through from now on; a forked child starts anew
};

// Everything here is zero again in a forked child.
struct alignas(4096) ForkPage {
  AgentState state;
  std::atomic<uint32_t> generation;   // current_generation() while events are recorded; 0: they are not
  std::atomic<uint32_t> lock;         // of the slow paths, taken with signals blocked
  std::atomic<uint32_t> module_lock;  // agent/process/modules.cc
  std::atomic<uint32_t> device_lock;  // agent/cuda/device_limit.cc
  std::atomic<uint32_t> asking_lock;  // agent/cuda/holdings.cc
  // agent/hooks/host_limit.cc: 1: the sum of reserved bytes there is this process's own
  std::atomic<uint32_t> has_own_sum;
  // pid of a child that libc's fork() made; a vfork child of it has another pid. 0: not known
  int forked_pid;
  std::atomic<uint64_t> events_before;  // events of the heap before this session: Hello::events_before
};
extern ForkPage g_fork_page;

extern int g_pid;  // process id of this session; a vfork child has another id
// the generation at which this session began (agent/process/generation.h); 0: no session has begun
extern uint32_t g_session;
extern const char* g_single_threaded;  // points to a byte that is not 0 while no stamp is needed
extern bool g_use_tsc;                 // stamps are the time stamp counter's; false: Control::sequence gives them
extern uint32_t g_fences;              // what an event does before it takes its stamp: kFence…
inline constexpr uint32_t kFenceProducer = 1;  // FenceMode::kProducerFence
// lfence: no stamp is older than what its thread has seen (cli/collect/README.md, "An inverted stamp").
inline constexpr uint32_t kFenceOrder = 2;

// Flags of a thread.
inline constexpr uint32_t kThreadSuppressed = 1;  // the reference unwinder runs: its allocations are not the program's
inline constexpr uint32_t kThreadSelfTest = 2;
inline constexpr uint32_t kThreadStarting = 4;
inline constexpr uint32_t kThreadWithoutClock = 8;  // it may be about to lose the time stamp counter
inline constexpr uint32_t kThreadInside = 15;       // any of these: its events are not recorded
inline constexpr uint32_t kThreadUnfiltered = 16;   // it is under no seccomp filter, for certain
extern constinit thread_local uint32_t t_flags __attribute__((tls_model("initial-exec")));
extern volatile uint32_t g_self_test_events;  // volatile, because the compiler assumes that malloc changes no variable

// Ends recording in this process; the first reason is kept. pre: an arena is mapped.
void turn_off(wire::StopReason reason);

// ---- Seccomp filters ----
//
// A filter applies to a thread, and to the threads and processes that it creates. If a thread had a ring before the
// first filter was announced, and has installed none since, it is known to have none (kThreadUnfiltered). From the
// first announcement on, any other thread may be filtered, and the agent makes no system call on it.

enum class FilterReach : uint8_t { kThread, kProcess };

// What note_filter() changed; withdraw_filter() needs it.
struct FilterNotice {
  FilterReach reach;
  bool is_leader;
  bool was_unfiltered;
};

// The calling thread is about to install a filter: from now on it counts as filtered. is_leader: it is the process's
// first thread, the only one that the collector looks at.
FilterNotice note_filter(FilterReach reach, bool is_leader);
// There is no filter after all: the call failed.
void withdraw_filter(const FilterNotice& notice);
// The whole process is filtered, for certain.
void mark_filtered();
void unmark_filtered();
// For a forked child of an unfiltered thread: drops what is known of other threads' filters, which do not apply to the
// child. pre: !is_filtered()
void forget_filters();

// True if the calling thread may be under a filter: then the agent makes no system call on it.
bool is_filtered();
// True if some thread may be under a filter. Such a thread cannot block its signals, so it may have left a lock taken.
bool has_filters();
// True if the calling thread may sleep, or ask the kernel: it is known not to be under a filter (the collector's state
// is not FilterState::kPossible).
bool may_ask_kernel();
// Lets another thread run while the caller waits for it, for the `round`th time. Makes no system call if none may be
// made. After some rounds it sleeps: a real-time thread that yields is scheduled again at once, so the thread that it
// waits for would never get the processor (tests/integration/threads/realtime.sh).
void let_others_run(uint32_t round);

// True if the collector has died. Cost: one load.
bool is_collector_dead();
bool has_collector_left();  // the collector is dead, or has reported that it records no more

}  // namespace heapprof::agent

#pragma GCC visibility pop
