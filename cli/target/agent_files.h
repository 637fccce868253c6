// cli/target/agent_files.h: finds the agent, whose path is relative to the tool's.
//
// Guarantees
//  - The tool and its agent can be moved together: BIN/heapprof looks for the agent in BIN/../LIBDIR/heapprof, where
//    LIBDIR is the library folder that the build was given, and then in BIN/../lib/heapprof.
#pragma once

#include "cli/base/result.h"

#include <string>

namespace heapprof::cli {

struct AgentFiles {
  std::string agent;      // libheapprof.so
  std::string reference;  // libheapprof-verify.so; empty if it is not installed
  std::string nvml;       // heapprof-nvml; empty if it is not installed
};

Result<AgentFiles> find_agent_files();

}  // namespace heapprof::cli
