// cli/target/agent_trial.h: the agent, really preloaded into a small program that really says hello.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

// Tries the agent, the reference unwinder beside it, and the libc that they meet. It takes a few milliseconds, five
// seconds at most.
std::vector<Capability> try_agent();

}  // namespace heapprof::cli
