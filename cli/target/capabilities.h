// cli/target/capabilities.h: finds out what this machine allows by trying it.
//
// Guarantees
//  - A trial leaves nothing behind: files and sockets that it makes are removed.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

// ---- capabilities.cc ----

std::vector<Capability> try_kernel();  // system calls and their settings
std::vector<Capability> try_limits();  // limits of this process and of its control group
std::vector<Capability> try_paths();   // files and sockets

// ---- agent_trial.cc ----

// Preloads the agent into a small program and waits for its hello, which also gives the libc's version. Then does the
// same with the reference unwinder, and tries NVML. Takes a few milliseconds, and at most five seconds for each trial.
std::vector<Capability> try_agent();

}  // namespace heapprof::cli
