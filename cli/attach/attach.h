// cli/attach/attach.h: makes a running process load the agent, or makes the agent remove its hooks from it.
//
// heapprof's own thread in the process (own_thread.h) calls dlopen and a function of the agent (shared/attach.h). To
// create it, one thread of the process is stopped for some 0.1 ms; if the program has only one thread, for 1 to 50 ms.
//
// Guarantees
//  - It needs a debugger's permission (ptrace), and grants none to others.
//  - If it is not possible, the process runs on unchanged, and the problem says why and what to do.
// Context:  any thread of heapprof. During the call, the calling thread is a tracer (ptrace), and no other thread may
//           wait with __WALL. The agent calls the collector during that time, so another thread has to answer.
#pragma once

#include "cli/base/result.h"

#include <sys/types.h>

#include <atomic>
#include <string>

namespace heapprof::cli {

struct AttachRequest {
  pid_t pid = 0;
  std::string agent;       // file of the agent
  std::string invitation;  // value of wire::kSocketVariable
  bool follows = true;     // programs that the process starts are profiled, too
};

// has_to_stop: set by another thread to give up.
Result<Done> attach_agent(const AttachRequest& request, const std::atomic<bool>& has_to_stop);
// False: the agent does not record there any more, or never did.
Result<bool> detach_agent(pid_t pid, const std::string& agent, const std::atomic<bool>& has_to_stop);

}  // namespace heapprof::cli
