// cli/target/snapshot_client.cc: see snapshot_client.h.
#include "cli/target/snapshot_client.h"

#include "cli/base/problems.h"
#include "cli/target/collector_search.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

namespace heapprof::cli {
namespace {

// Nothing if the connection ended, or no answer came in time (-1: there is no limit).
std::optional<SnapshotAnswer> hear(int connection, int patience_ms) {
  SnapshotAnswer answer;
  if (!wait_readable(connection, patience_ms) ||
      recv(connection, &answer, sizeof answer, 0) != static_cast<ssize_t>(sizeof answer))
    return std::nullopt;
  answer.text[sizeof answer.text - 1] = 0;
  return answer;
}

}  // namespace

Result<SnapshotTaken> ask_for_snapshot(pid_t pid, const std::string& path, bool may_overwrite) {
  const std::string shown = std::to_string(pid);
  const Result<Collectors> collectors = find_collectors(pid, "snapshot");
  if (!collectors) return collectors.problem();
  SnapshotRequest request;
  request.pid = pid;
  request.may_overwrite = may_overwrite ? 1 : 0;
  if (path.size() >= sizeof request.path) return output_not_writable(path, errno_text(ENAMETOOLONG));
  std::memcpy(request.path, path.data(), path.size());
  for (const std::string& collector : collectors->paths) {
    const UniqueFd connection = connect_to_collector(collector);
    if (!connection.is_open()) continue;
    if (send(connection.get(), &request, sizeof request, MSG_NOSIGNAL) < 0) continue;
    std::optional<SnapshotAnswer> answer = hear(connection.get(), kCollectorPatienceMs);
    if (!answer) {
      if (collectors->is_own) return nobody_answers(shown);
      continue;
    }
    if (answer->status == SnapshotStatus::kUnknown) continue;
    if (answer->status == SnapshotStatus::kWorking) {
      answer = hear(connection.get(), -1);
      if (!answer) return snapshot_refused(shown, "whoever wrote it has died, for lack of memory perhaps");
    }
    if (answer->status != SnapshotStatus::kWritten) return snapshot_refused(shown, answer->text);
    const std::string devices(answer->devices, strnlen(answer->devices, sizeof answer->devices));
    return SnapshotTaken{answer->text, answer->size_bytes, answer->live_bytes, answer->peak_bytes, devices};
  }
  return process_not_profiled(shown);
}

}  // namespace heapprof::cli
