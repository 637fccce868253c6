// cli/run/terminal_group.cc: makes the program's process group the terminal's foreground group.
//
// The program cannot be given a group of its own from the start, because other processes of the same pipeline must stay
// in the foreground, too. And it is not enough to wait until SIGTTIN stops the program. For example, timeout ignores
// that signal, and its child reads the terminal; the child's stops are not reported to us.
#include "cli/run/terminal_group.h"

#include "cli/base/clock.h"
#include "cli/target/proc_file.h"
#include "cli/target/process_facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr uint64_t kOnItsWayNs = 200'000'000;

// Whether a shell has made this process, or its init (init.h), the leader of this group.
bool leads_own_group() {
  const pid_t leader = getpgrp();
  return leader == getpid() || (leader == getppid() && process_executable(leader) == process_executable(getpid()));
}

// Whether the program leads a group of its own in our session, and we lead ours.
bool is_apart(pid_t program) {
  return program != getpgrp() && getpgid(program) == program && getsid(program) == getsid(0) && leads_own_group();
}

struct GroupMember {
  pid_t pid;
  pid_t parent;
  char state;
  bool is_about_to_stop;  // SIGTTIN or SIGTTOU is pending
};

GroupMember look_at_member(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  const auto after = [&status](std::string_view field) {
    const size_t at = status.find(field);
    return at == std::string::npos ? "" : status.c_str() + at + field.size();
  };
  const uint64_t pending =
      std::strtoull(after("\nSigPnd:"), nullptr, 16) | std::strtoull(after("\nShdPnd:"), nullptr, 16);
  const uint64_t stopping = 1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
  return {pid, static_cast<pid_t>(std::strtol(after("\nPPid:\t"), nullptr, 10)), *after("\nState:\t"),
          (pending & stopping) != 0};
}

std::vector<GroupMember> members_of(pid_t group) {
  std::vector<GroupMember> members;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (folder == nullptr) return members;
  while (const dirent* entry = readdir(folder.get())) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid > 0 && getpgid(pid) == group) members.push_back(look_at_member(pid));
  }
  return members;
}

// Whether the shell has started other processes than us in this group.
bool is_job_shared() {
  const pid_t leader = getpgrp();
  const pid_t shell = look_at_member(leader).parent;
  for (const GroupMember& member : members_of(leader)) {
    if (member.pid != leader && member.parent == shell && member.state != 'Z') return true;
  }
  return false;
}

bool is_in_foreground(const UniqueFd& terminal) { return terminal.is_open() && tcgetpgrp(terminal.get()) == getpgrp(); }

}  // namespace

UniqueFd open_terminal() { return UniqueFd(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); }

// Shortly after tick() gave the terminal, a stop from before may be reported: then the program only has to be
// continued.
bool TerminalGroup::give(pid_t program) {
  if (given_ns_ != 0 && monotonic_ns() - given_ns_ < kOnItsWayNs) return true;
  if (!is_apart(program)) return false;
  const UniqueFd terminal = open_terminal();
  return is_in_foreground(terminal) && tcsetpgrp(terminal.get(), program) == 0;
}

void take_terminal_back(pid_t program) {
  if (program == getpgrp() || !leads_own_group()) return;
  const UniqueFd terminal = open_terminal();
  if (terminal.is_open() && tcgetpgrp(terminal.get()) == program) tcsetpgrp(terminal.get(), getpgrp());
}

void TerminalGroup::tick(pid_t program) {
  if (is_settled_ || getpgid(program) != program || !is_apart(program)) return;
  const UniqueFd terminal = open_terminal();
  if (!is_in_foreground(terminal)) return;
  is_settled_ = true;
  if (is_job_shared() || tcsetpgrp(terminal.get(), program) != 0) return;
  given_ns_ = monotonic_ns();
  for (const GroupMember& member : members_of(program)) {
    // Not the program itself: its stop is reported to us, and handled by give().
    if (member.pid != program && (member.state == 'T' || member.is_about_to_stop)) kill(member.pid, SIGCONT);
  }
}

}  // namespace heapprof::cli
