// cli/target/launch.cc: starts the program by vfork and exec, and tells "could not be started" from "ran and failed".
//
// A pipe that is closed by the exec tells the two apart. If it is closed without data, the program runs; if an errno
// comes through it, exec failed with that error. posix_spawn would report the error, too, but glibc's leaves two
// signals ignored in the program, which is not so without heapprof.
//
// A vfork child uses our memory until its exec, so there is no copy and no copy-on-write fault in either process. That
// is safe: the child has its own signal dispositions, we have no signal handlers, and the signals that could end us are
// blocked. The environment is prepared before, so that the child only makes system calls.
#include "cli/target/launch.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "shared/env.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

extern char** environ;

namespace heapprof::cli {

namespace {

constexpr size_t kPidDigits = 10;

// Whether the variable `text` is one in which systemd names the process `pid`. The program must find its own pid there
// (sd_listen_fds(3)).
bool names_process(const std::string& text, pid_t pid) {
  if (pid == 0) return false;
  for (const char* name : {"LISTEN_PID=", "WATCHDOG_PID=", "SYSTEMD_EXEC_PID="}) {
    if (text == name + std::to_string(pid)) return true;
  }
  return false;
}

// The program's environment. pids: the places in it where the child writes its pid.
std::vector<std::string> make_environment(const LaunchOptions& options, std::vector<char*>* pids) {
  std::string preload;
  for (const std::string& object : options.preload) {
    if (!preload.empty()) preload += ':';
    preload += object;
  }
  const std::string preload_name = std::string(wire::kPreloadVariable) + "=";
  const std::string socket_name = std::string(wire::kSocketVariable) + "=";
  std::vector<std::string> environment;
  std::vector<size_t> named;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with(socket_name)) continue;
    if (text.starts_with(preload_name)) {
      if (text.size() > preload_name.size()) preload += ":" + text.substr(preload_name.size());
      continue;
    }
    environment.push_back(text);
    if (names_process(text, options.own_pid)) named.push_back(environment.size() - 1);
  }
  environment.push_back(preload_name + preload);
  environment.push_back(socket_name + options.socket_variable);
  for (const size_t index : named) {
    std::string& text = environment[index];
    const size_t at = text.find('=') + 1;
    text.resize(at + kPidDigits);
    pids->push_back(text.data() + at);
  }
  return environment;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// `to` has room for kPidDigits and a zero byte.
void write_pid(char* to, pid_t pid) {
  char digits[kPidDigits];
  size_t count = 0;
  for (auto rest = static_cast<uint32_t>(pid); rest != 0 || count == 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count != 0) *to++ = digits[--count];
  *to = 0;
}

// Called in the child, between fork and exec.
[[noreturn]] void become(const LaunchOptions& options, char* const* arguments, char* const* shell_arguments,
                         char* const* environment, const std::vector<char*>& pids, int error_fd) {
  for (char* pid : pids) write_pid(pid, getpid());
  if (options.in_child) options.in_child();
  if (options.input.is_open()) dup2(options.input.get(), STDIN_FILENO);
  if (options.output.is_open()) dup2(options.output.get(), STDOUT_FILENO);
  if (options.output.is_open()) dup2(options.output.get(), STDERR_FILENO);
  execve(options.file.c_str(), arguments, environment);
  if (errno == ENOEXEC)
    execve(shell_arguments[0], shell_arguments, environment);  // a script without "#!", as execvp does
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_fd, &error, sizeof error);
  _exit(127);
}

Problem start_problem(const std::string& program, int error) {
  if (error == ENOENT || error == ENOTDIR) return program_not_found(program);
  if (error == EACCES || error == EISDIR || error == EPERM || error == ENOEXEC) {
    return program_not_executable(program, errno_text(error));
  }
  return launch_failed(program, errno_text(error));
}

}  // namespace

Result<Launched> launch(const LaunchOptions& options) {
  const std::string& program = options.command[0];
  std::vector<char*> pids;
  const std::vector<std::string> environment = make_environment(options, &pids);
  const std::vector<char*> arguments = pointers(options.command);
  std::vector<std::string> shell_command = {"/bin/sh", options.file};
  shell_command.insert(shell_command.end(), options.command.begin() + 1, options.command.end());
  const std::vector<char*> shell_arguments = pointers(shell_command);
  const std::vector<char*> variables = pointers(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return launch_failed(program, errno_text(errno));
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);

  Launched launched;
  launched.before_ns = monotonic_ns();
  launched.pid = vfork();
  if (launched.pid < 0) return launch_failed(program, errno_text(errno));
  if (launched.pid == 0)
    become(options, arguments.data(), shell_arguments.data(), variables.data(), pids, write_end.get());
  write_end.reset();
  launched.pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, launched.pid, 0)));

  int error = 0;
  ssize_t got;
  do {
    got = read(read_end.get(), &error, sizeof error);  // returns when exec closes the other end
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof error)) {
    waitpid(launched.pid, nullptr, 0);
    return start_problem(program, error);
  }
  return launched;
}

}  // namespace heapprof::cli
