// cli/target/collector_search.h: finds the collectors that may know a process, and connects to them.
//
// Guarantees
//  - Only collectors of our own user or of root are asked about a process. Root also asks collectors of the process's
//    user. Nothing is sent to other users, who can bind any socket name.
//  - Collectors that do not answer (fakes, stopped ones) are waited for all at once, not one after the other.
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
  bool is_own = false;             // the only path is that of the process's own collector
};
// command: the heapprof command, for error messages.
Result<Collectors> find_collectors(pid_t pid, const std::string& command);

// The socket names of all collectors of this machine that /proc/net/unix shows.
std::vector<std::string> all_collectors();

// The connection; closed if no process listens, or an untrusted process does. user: a user whom root trusts; nullopt:
// root trusts any user.
UniqueFd connect_to_collector(const std::string& path, std::optional<uid_t> user = std::nullopt);

// Sends the request to one collector after the other. When an answer can be read, or the connection has ended, calls
// take(path, connection), until take() returns true. patience_ms is the time that all collectors have together.
// kSilent: that time ended before take() returned true.
enum class Asked { kTaken, kUnknown, kSilent };
Asked ask_collectors(const Collectors& collectors, std::string_view request, int patience_ms,
                     const std::function<bool(const std::string& path, UniqueFd connection)>& take);

// Waits until something can be read. patience_ms -1: without a limit. False: nothing came in time.
bool wait_readable(int connection, int patience_ms);

inline constexpr int kCollectorPatienceMs = 5000;

}  // namespace heapprof::cli
