// cli/target/collector_search.h: finds the collectors that may know a process, and reaches them.
//
// Guarantees
//  - Who answers is a process of our own user, or root's; for root it may be anybody's. Names of sockets can be taken
//    by others.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

struct Collectors {
  std::vector<std::string> paths;  // names of their sockets
  bool is_own = false;             // it is the process's own, which is not answered by others
};
// command: what the user called, for what is said if there is no such process.
Result<Collectors> find_collectors(pid_t pid, const std::string& command);

// The names of all collectors of this machine that this mount namespace shows.
std::vector<std::string> all_collectors();

// Closed if nobody listens.
UniqueFd connect_to_collector(const std::string& path);

// Waits until something can be read; -1: as long as it takes. False: nothing came.
bool wait_readable(int connection, int patience_ms);

inline constexpr int kCollectorPatienceMs = 5000;

}  // namespace heapprof::cli
