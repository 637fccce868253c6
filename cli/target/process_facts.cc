// cli/target/process_facts.cc: reads /proc of a process that may be ending just now.
//
// Every read can fail half way, and a missing part must not be taken for an answer. That matters most for seccomp
// filters: if their number is unknown, the result is kPossible, and the agent then waits for room in a full ring
// without system calls.
#include "cli/target/process_facts.h"

#include "cli/base/fd.h"
#include "cli/target/proc_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace heapprof::cli {

// Uses read(), because reading a file of a process that is just ending fails half way, and then an fstream would throw.
std::string read_proc(pid_t pid, const char* name) {
  const UniqueFd fd(open(fmt::format("/proc/{}/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd.is_open()) return text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  return text;
}

namespace {

struct SeccompFacts {
  int mode = -1;     // 0 none, 1 strict, 2 filters; -1: unknown
  int filters = -1;  // their number; -1: unknown, as before Linux 5.10
};

SeccompFacts read_seccomp(pid_t pid) {
  const std::string text = read_proc(pid, "status");
  SeccompFacts facts;
  const auto read_number = [&text](const char* name, int* number) {
    const size_t at = text.find(name);
    if (at != std::string::npos) *number = std::atoi(text.c_str() + at + std::strlen(name));
  };
  read_number("\nSeccomp:\t", &facts.mode);
  read_number("\nSeccomp_filters:\t", &facts.filters);
  return facts;
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

std::string process_first_word(pid_t pid) {
  const UniqueFd fd(open(fmt::format("/proc/{}/cmdline", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char words[4096];
  const ssize_t got = fd.is_open() ? read(fd.get(), words, sizeof words) : 0;
  return std::string(words, got > 0 ? strnlen(words, static_cast<size_t>(got)) : 0);
}

std::string process_executable(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

wire::FilterState process_filter(pid_t pid) {
  const SeccompFacts facts = read_seccomp(pid);
  if (facts.mode == 0) return wire::FilterState::kNone;
  if (facts.mode > 0 && facts.filters >= 0)
    return facts.filters > static_cast<int>(own_filter_count()) ? wire::FilterState::kCertain
                                                                : wire::FilterState::kNone;
  return wire::FilterState::kPossible;
}

uint32_t own_filter_count() {
  static const SeccompFacts own = read_seccomp(getpid());
  return own.filters > 0 ? static_cast<uint32_t>(own.filters) : 0;
}

}  // namespace heapprof::cli
