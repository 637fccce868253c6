// cli/target/agent_link.h: a path to the agent that LD_PRELOAD can hold.
//
// The loader splits LD_PRELOAD at blanks and colons, and replaces $ORIGIN and its like. Where heapprof is installed in
// a folder with such a name, the agent is reached through a link in a private folder.
#pragma once

#include "cli/base/result.h"
#include "cli/target/agent_files.h"

#include <string>

namespace heapprof::cli {

class AgentLink {
 public:
  AgentLink() = default;
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // Makes the link, if one is needed, and redirects the paths of the preloaded objects through it.
  Result<Done> lead(AgentFiles* files);
  bool is_made() const { return !folder_.empty(); }
  // Processes with that path in their environment run on: without the link, what they start would complain.
  void keep() { folder_.clear(); }

 private:
  std::string folder_;  // ours; empty: none is needed
};

}  // namespace heapprof::cli
