// cli/target/agent_link.h: gives the agent a path that LD_PRELOAD can hold.
//
// The loader splits LD_PRELOAD at blanks and colons, and replaces tokens such as $ORIGIN. If heapprof is installed in a
// folder whose name has such characters, the agent is loaded through a symbolic link in a private folder.
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

  // If a link is needed, makes it, and changes the paths of the preloaded objects to go through it.
  Result<Done> lead(AgentFiles* files);
  bool is_made() const { return !folder_.empty(); }
  // Keeps the link after this object's end, for processes that run on with that path in their environment: without the
  // link, the loader would print an error in each program that they start.
  void keep() { folder_.clear(); }

 private:
  std::string folder_;  // with the link; empty: no link is needed, or it is kept
};

}  // namespace heapprof::cli
