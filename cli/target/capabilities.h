// cli/target/capabilities.h: what this machine allows, found out by trying it.
//
// Guarantees
//  - The machine is left as it was; what is made for a trial is removed.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

// ---- capabilities.cc ----

std::vector<Capability> try_kernel();  // system calls and their settings
std::vector<Capability> try_limits();  // of this process and its control group
std::vector<Capability> try_paths();   // files and sockets

// ---- agent_trial.cc ----

// Preloads the agent into a small program, which really says hello, and tries the reference unwinder and the libc that
// they meet. It takes a few milliseconds, five seconds at most.
std::vector<Capability> try_agent();

}  // namespace heapprof::cli
