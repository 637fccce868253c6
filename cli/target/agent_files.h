// cli/target/agent_files.h: where the agent is, relative to the tool.
//
// Guarantees
//  - The tool and its agent can be moved together: BIN/heapprof looks in BIN/../lib/heapprof and its like.
#pragma once

#include "cli/base/result.h"

#include <string>

namespace heapprof::cli {

struct AgentFiles {
  std::string agent;      // libheapprof.so
  std::string reference;  // libheapprof-verify.so; empty if it is not installed
  std::string nvml;       // heapprof-nvml; as above
};

Result<AgentFiles> find_agent_files();

}  // namespace heapprof::cli
