// cli/target/collector_search.h: finds the collectors that may know a process, and reaches them.
//
// Guarantees
//  - Only collectors of our own user or of root are asked about a process; root also asks those of the process's user.
//    Other users can take the names of sockets, and are not spoken to.
//  - Silent ones (fakes, stopped ones) are waited for together, not one after the other.
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
  bool is_own = false;             // it is the process's own collector: no other answers for it
};
// command: what the user called, for the message if there is no such process.
Result<Collectors> find_collectors(pid_t pid, const std::string& command);

// The names of all collectors of this machine that this mount namespace shows.
std::vector<std::string> all_collectors();

// Closed if no process listens, or an untrusted one. user: whom root trusts; without it, root trusts any user.
UniqueFd connect_to_collector(const std::string& path, std::optional<uid_t> user = std::nullopt);

// Sends the request to one after the other. Calls take(path, connection) when an answer can be read, or the connection
// has ended, until take() returns true. kSilent: some did not answer within the time that all have together.
enum class Asked { kTaken, kUnknown, kSilent };
Asked ask_collectors(const Collectors& collectors, std::string_view request, int patience_ms,
                     const std::function<bool(const std::string& path, UniqueFd connection)>& take);

// Waits until something can be read; -1: as long as it takes. False: nothing came.
bool wait_readable(int connection, int patience_ms);

inline constexpr int kCollectorPatienceMs = 5000;

}  // namespace heapprof::cli
