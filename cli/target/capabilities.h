// cli/target/capabilities.h: what this machine allows, asked by trying it.
//
// Guarantees
//  - Nothing on the machine is changed; what is made for a trial is gone afterwards.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

// ---- capabilities.cc ----

std::vector<Capability> try_kernel();  // system calls and their settings
std::vector<Capability> try_limits();  // of this process and its control group
std::vector<Capability> try_paths();   // files and sockets

// ---- agent_trial.cc ----

// The agent, really preloaded into a small program that really says hello, the reference unwinder beside it, and the
// libc that they meet. It takes a few milliseconds, five seconds at most.
std::vector<Capability> try_agent();

}  // namespace heapprof::cli
