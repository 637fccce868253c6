// cli/target/process_facts.cc: see process_facts.h.
#include "cli/target/process_facts.h"

#include "cli/base/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace heapprof::cli {

namespace {

// A file of /proc/PID; reading one of a process that is just ending fails half way, which an fstream would throw.
std::string read_proc(pid_t pid, const char* name) {
  const UniqueFd fd(open(fmt::format("/proc/{}/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd.is_open()) return text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  return text;
}

}  // namespace

std::vector<std::string> process_command(pid_t pid) {
  const std::string text = read_proc(pid, "cmdline");
  std::vector<std::string> command;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\0', start), text.size());
    command.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return command;
}

uint64_t process_parent(pid_t pid) {
  const std::string text = read_proc(pid, "stat");
  const size_t name_end = text.rfind(')');  // the name in brackets may hold anything
  if (name_end == std::string::npos) return 0;
  char state = 0;
  unsigned long parent = 0;
  return std::sscanf(text.c_str() + name_end + 1, " %c %lu", &state, &parent) == 2 ? parent : 0;
}

std::string process_executable(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

bool has_restricted_syscalls(pid_t pid) {
  const std::string text = read_proc(pid, "status");
  const size_t at = text.find("\nSeccomp:\t");
  if (at == std::string::npos) return true;
  return text[at + 10] != '0';
}

}  // namespace heapprof::cli
