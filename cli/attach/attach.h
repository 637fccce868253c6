// cli/attach/attach.h: has a process that runs load the agent, or lead its hooks back.
//
// A thread of our own (own_thread.h) calls dlopen and a function of the agent (shared/attach.h) there. For it one
// thread of the process is stopped for some 0.1 ms, the only one of a program for 1 to 50 ms.
//
// Guarantees
//  - It needs what a debugger needs (ptrace), and gives nobody more.
//  - Where it cannot be done, the process runs on as it was, and the problem says why and what to do.
// Context:  any thread of ours, which traces meanwhile and is not waited for with __WALL. The agent asks the collector
//           meanwhile: another thread answers.
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
  bool follows = true;     // programs that it starts are profiled too
};

// has_to_stop: set by another thread to give up.
Result<Done> attach_agent(const AttachRequest& request, const std::atomic<bool>& has_to_stop);
// False: the agent records there no more, or never did.
Result<bool> detach_agent(pid_t pid, const std::string& agent, const std::atomic<bool>& has_to_stop);

}  // namespace heapprof::cli
