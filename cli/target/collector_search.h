// cli/target/collector_search.h: finds the collectors that may know a process, and reaches them.
//
// Guarantees
//  - A collector that may be asked about a process belongs to our own user or to root; root also asks those of the
//    process's user. Names of sockets can be taken by others, who are not spoken to.
//  - Those that say nothing (fakes, stopped ones) are waited for together, not one after the other.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct Collectors {
  std::vector<std::string> paths;  // names of their sockets
  uid_t user = 0;                  // the process's
  bool is_own = false;             // it is the process's own, which is not answered by others
};
// command: what the user called, for what is said if there is no such process.
Result<Collectors> find_collectors(pid_t pid, const std::string& command);

// The names of all collectors of this machine that this mount namespace shows.
std::vector<std::string> all_collectors();

// Closed if no process listens, or one that may not be trusted: `user` for root, who trusts anybody where it is not
// given.
UniqueFd connect_to_collector(const std::string& path, std::optional<uid_t> user = std::nullopt);

// Sends the request to one after the other, and calls take(path, connection) when an answer can be read, or the
// connection has ended, until take() returns true. kSilent: some said nothing within the time that all have together.
enum class Asked { kTaken, kUnknown, kSilent };
Asked ask_collectors(const Collectors& collectors, std::string_view request, int patience_ms,
                     const std::function<bool(const std::string& path, UniqueFd connection)>& take);

// Waits until something can be read; -1: as long as it takes. False: nothing came.
bool wait_readable(int connection, int patience_ms);

inline constexpr int kCollectorPatienceMs = 5000;

}  // namespace heapprof::cli
