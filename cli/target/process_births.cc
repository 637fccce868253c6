// cli/target/process_births.cc: the kernel assigns pids to processes and threads in ascending order, and shows the last
// one. So the pids that were assigned between two moments are known, unless they wrapped around in between.
//
// In a short time they cannot wrap around. For that, the kernel would have to assign every free pid, and it assigns at
// most one in a microsecond, because each takes two global locks. A pid is in use by a task, or by a process group or
// session whose leader has ended. So there are at most three in use for each task.
#include "cli/target/process_births.h"

#include "cli/base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kLeastNs = 1000;      // between two new pids, at the least
constexpr uint64_t kReservedPids = 300;  // low pids that are not assigned after a wrap
constexpr uint64_t kPidsPerTask = 3;
constexpr pid_t kMostPids = 64;  // if there are more, all of /proc is searched instead

std::string read_file(const char* path) {
  const UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t got = fd.is_open() ? read(fd.get(), text, sizeof text) : 0;
  return got > 0 ? std::string(text, static_cast<size_t>(got)) : std::string();
}

std::optional<uint64_t> number(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end == digits.data()) return std::nullopt;
  return value;
}

// The number after the last character `before`; nullopt: there is no number.
std::optional<uint64_t> number_behind(std::string_view text, char before) {
  const size_t at = text.rfind(before);
  return at == std::string_view::npos ? std::nullopt : number(text.substr(at + 1));
}

}  // namespace

std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns) {
  return pids_since(first, passed_ns, read_file("/proc/loadavg"), read_file("/proc/sys/kernel/pid_max"));
}

// loadavg: "0.20 0.18 0.12 1/80 11206" has, after the loads, running tasks / all tasks, and the pid assigned last in
// our own namespace.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns, const std::string& loadavg,
                                  const std::string& pid_max) {
  const std::optional<uint64_t> tasks = number_behind(loadavg, '/');
  const std::optional<uint64_t> last = number_behind(loadavg, ' ');
  const std::optional<uint64_t> end = number(pid_max);
  if (!tasks || !last || !end || first <= 0 || *tasks > UINT32_MAX) return std::nullopt;
  const uint64_t taken = kReservedPids + *tasks * kPidsPerTask;
  if (*end <= taken || passed_ns / kLeastNs >= *end - taken) return std::nullopt;
  if (*last < static_cast<uint64_t>(first) || *last - static_cast<uint64_t>(first) > kMostPids) return std::nullopt;
  return PidSpan{first, static_cast<pid_t>(*last)};
}

}  // namespace heapprof::cli
