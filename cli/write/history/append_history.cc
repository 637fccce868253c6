// cli/write/history/append_history.cc: O_APPEND alone would keep lines whole on a local disk. The lock is for two more
// steps: the check of the file's last byte, and the removal of a half-written part when the disk is full.
#include "cli/write/history/append_history.h"

#include "cli/base/byte_sink.h"
#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/trusted_output.h"
#include "cli/write/encode/json_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace heapprof::cli {
namespace {

int lock(int fd) {
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOLCK || errno == EOPNOTSUPP ? 0 : errno;  // a pipe, or no locks here
  }
  return 0;
}

// True if the file ends inside a line.
bool ends_half_way(int fd, off_t size) {
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

// Whether the file's beginning shows that it is no history but, for instance, a profile, because the user mixed up two
// arguments. The first entry may be cut off anywhere.
bool is_another_file(int fd) {
  char first[4096];
  const ssize_t count = ::pread(fd, first, sizeof first, 0);
  if (count <= 0) return false;
  const std::string_view begin(first, static_cast<size_t>(count));
  const size_t text = begin.find_first_not_of(" \t\r\n");
  if (text == std::string_view::npos) return false;
  const std::string time = fmt::format("\"{}\":", history_key::kTime);
  const std::string entry = fmt::format("{{\"{}\":{},{}", history_key::kVersion, kHistoryVersion, time);
  return begin.find(time) == std::string_view::npos && !entry.starts_with(begin.substr(text));
}

}  // namespace

std::string history_line(const HistoryEntry& entry) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.key(history_key::kVersion);
  json.number(kHistoryVersion);
  json.key(history_key::kTime);
  json.signed_number(entry.time_unix_ns);
  json.key(history_key::kCommit);
  json.string(entry.commit);
  json.key(history_key::kName);
  json.string(entry.name);
  json.key(history_key::kCommand);
  json.begin_array();
  for (const std::string& word : entry.command) json.string(word);
  json.end_array();
  json.key(history_key::kDevice);
  json.string(entry.device);
  for (const MetricField& it : kMetricFields) {
    const std::optional<uint64_t>& value = entry.metrics[metric_index(it.metric)];
    if (!value) continue;
    json.key(metric_field(it.metric));
    json.number(*value);
  }
  if (entry.ok) {
    json.key(history_key::kOk);
    json.boolean(*entry.ok);
  }
  json.end_object();
  json.finish();
  return sink.text();
}

Result<Done> append_history(const std::string& path, std::span<const HistoryEntry> entries) {
  std::string lines;
  for (const HistoryEntry& entry : entries) lines += history_line(entry);
  if (lines.empty()) return Done{};
  const Result<UniqueFd> opened = open_output(path, O_RDWR | O_APPEND, 0666);
  if (!opened) return opened.problem();
  const UniqueFd& fd = *opened;
  if (!fd.is_open()) return history_not_writable(path, errno_text(errno));
  if (const int error = lock(fd.get()); error != 0) return history_not_writable(path, errno_text(error));
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return history_not_writable(path, errno_text(errno));
  const bool is_regular = S_ISREG(facts.st_mode);
  if (is_regular && is_another_file(fd.get())) return not_a_history(path);
  if (is_regular && ends_half_way(fd.get(), facts.st_size)) lines.insert(0, 1, '\n');
  const int error = write_fully(fd.get(), lines);
  if (error == 0) return Done{};
  if (is_regular && ::ftruncate(fd.get(), facts.st_size) != 0)
    return history_not_writable(path, errno_text(error) + ", and a part of a line was left in it");
  return history_not_writable(path, errno_text(error));
}

}  // namespace heapprof::cli
