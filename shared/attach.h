// shared/attach.h: what heapprof calls in a running program, and what it leaves there.
//
// heapprof starts a thread of its own in the program (cli/attach/own_thread.h). That thread loads the agent and calls
// one of the two functions below. No thread of the program runs any of this.
//
// Trust:  the caller has the rights of a debugger over the process.
#pragma once

#include <stdint.h>

namespace heapprof::wire {

enum class AttachAnswer : uint32_t {
  kAttached = 1,       // events are recorded
  kBusy = 2,           // another live heapprof records this process
  kRefused = 3,        // the collector did not answer, or gave no arena
  kNoAllocator = 4,    // the agent found no library with a malloc
  kStarting = 5,       // another thread is starting the agent
  kNoLock = 6,         // another thread loads or unloads libraries all the time, or the loader's lock is not known
  kNotRedirected = 7,  // malloc could not be redirected to the agent: its page could not be written
};
enum class DetachAnswer : uint32_t {
  kDetached = 1,
  kNotAttached = 2,  // heapprof did not attach to it: it is not recorded, or recorded from its start
  kNoLock = 3,       // as AttachAnswer::kNoLock; recording has stopped
};

// void NAME(const char* invitation, const char* agent_path, AttachAnswer* answer): invitation: the value of
// kSocketVariable (env.h). agent_path: programs that this one starts load the agent from this path; "": they are not
// profiled.
inline constexpr char kAttachFunction[] = "heapprof_agent_attach";
// void NAME(DetachAnswer* answer)
inline constexpr char kDetachFunction[] = "heapprof_agent_detach";

// The memory of heapprof's thread. It stays mapped after the thread has ended, because allocators may have put that
// thread into a list of theirs; the next attach uses it again. Zeros: no such thread ran yet.
struct AttachThread {
  uint64_t region_avma;  // the thread's stack, and the arguments of calls
  uint64_t tcb_avma;     // thread control block, below which its thread-local storage lies
};
static_assert(sizeof(AttachThread) == 16);
inline constexpr char kAttachThreadVariable[] = "heapprof_agent_thread";

}  // namespace heapprof::wire
