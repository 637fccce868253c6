// shared/attach.h: what heapprof calls in a program that runs: two functions of the agent, which it had the program
// load.
//
// Trust:  the caller has the rights of a debugger over the process, and has stopped the thread that calls at a place
//         where it may call libc (cli/attach/safe_place.h).
#pragma once

#include <stdint.h>

namespace heapprof::wire {

enum class AttachAnswer : uint32_t {
  kAttached = 1,     // events are recorded
  kBusy = 2,         // another heapprof that lives records this process
  kRefused = 3,      // the collector did not answer, or gave no arena
  kNoAllocator = 4,  // there is no malloc that could be led to the agent: it is linked into the program
  kStarting = 5,     // another thread is at it
};
enum class DetachAnswer : uint32_t {
  kDetached = 1,
  kNotAttached = 2,  // nobody records, or the agent was there from the start: it has no hooks to take back
};

// void NAME(const char* invitation, const char* agent_path, AttachAnswer* answer): invitation: the value of
// kSocketVariable (env.h). agent_path: by which programs that this one starts load the agent; "": they are not
// followed.
inline constexpr char kAttachFunction[] = "heapprof_agent_attach";
// void NAME(DetachAnswer* answer)
inline constexpr char kDetachFunction[] = "heapprof_agent_detach";

}  // namespace heapprof::wire
