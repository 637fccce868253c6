// cli/target/agent_trial.h: the agent, really preloaded into a small program that really says hello.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

// The agent, the reference unwinder beside it, and the libc that they met. Takes a few milliseconds, five seconds at
// most.
std::vector<Capability> try_agent();

}  // namespace heapprof::cli
