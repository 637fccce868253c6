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

// The next answer; nullopt if the connection ended, or no answer came in time. patience_ms -1: no limit.
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
  std::optional<SnapshotAnswer> answer;
  UniqueFd connection;
  bool has_left = false;
  const std::string_view sent(reinterpret_cast<const char*>(&request), sizeof request);
  const Asked asked = ask_collectors(*collectors, sent, kCollectorPatienceMs, [&](const std::string&, UniqueFd from) {
    answer = hear(from.get(), 0);
    has_left = !answer;
    connection = std::move(from);
    return answer && answer->status != SnapshotStatus::kUnknown;
  });
  if (asked != Asked::kTaken)
    return collectors->is_own && (has_left || asked == Asked::kSilent) ? nobody_answers(shown)
                                                                       : process_not_profiled(shown);
  if (answer->status == SnapshotStatus::kWorking) {
    answer = hear(connection.get(), -1);
    if (!answer) return snapshot_refused(shown, "the process that wrote it has ended");
  }
  if (answer->status != SnapshotStatus::kWritten) return snapshot_refused(shown, answer->text);
  const std::string devices(answer->devices, strnlen(answer->devices, sizeof answer->devices));
  return SnapshotTaken{answer->text, answer->size_bytes, answer->live_bytes, answer->peak_bytes, devices};
}

}  // namespace heapprof::cli
