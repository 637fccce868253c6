// cli/target/process_names.cc: gives a process the name that its user would give it.
//
// For a script, that is the script's name and not its interpreter's. /proc/PID/exe shows the interpreter, and the
// command line may contain anything. But the kernel's short name (comm) is that of the executed file. So the word of
// the command line that begins with it is the name.
#include "cli/target/process_names.h"

#include "cli/base/file_name.h"
#include "cli/target/proc_file.h"
#include "cli/target/process_identity.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr size_t kMostPodBytes = 253;  // the longest name that Kubernetes gives
constexpr size_t kCommBytes = 15;      // the kernel cuts at TASK_COMM_LEN

std::string without_deleted(const std::string& path) {
  constexpr char kDeleted[] = " (deleted)";
  return path.ends_with(kDeleted) ? path.substr(0, path.size() - std::strlen(kDeleted)) : path;
}

// Whether `pid` is a process and not a thread: threads have pids, too, and folders in /proc that are not listed.
bool is_process(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  const size_t at = status.find("\nTgid:\t");
  return at != std::string::npos && std::atoi(status.c_str() + at + std::strlen("\nTgid:\t")) == pid;
}

}  // namespace

// comm is the name of the executed file: for a script that is the script, not its interpreter.
std::string program_name(const std::string& executable, const std::vector<std::string>& command,
                         const std::string& comm) {
  const std::string file = base_name(without_deleted(executable));
  if (!comm.empty() && file.substr(0, kCommBytes) != comm) {
    for (size_t i = 1; i < std::min<size_t>(command.size(), 3); ++i) {  // "#!/usr/bin/perl -w" adds one word
      const std::string script = base_name(command[i]);
      if (!script.empty() && script.substr(0, kCommBytes) == comm) return script;
    }
  }
  if (!file.empty()) return file;
  const std::string typed = command.empty() ? "" : base_name(command[0]);
  return typed.empty() ? "unknown" : typed;
}

std::string process_comm(pid_t pid) {
  std::string name = read_proc(pid, "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

namespace {

// The value of a variable; empty if it is not set. environment: must begin with a zero byte.
std::string variable(const std::string& environment, const char* name) {
  const std::string key = '\0' + std::string(name) + "=";
  const size_t at = environment.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

}  // namespace

std::string process_pod(pid_t pid) {
  const std::string environment = '\0' + read_environment(pid);
  for (const char* name : {"POD_NAME", "K8S_POD_NAME", "MY_POD_NAME"}) {
    const std::string value = variable(environment, name);
    if (!value.empty()) return value.substr(0, kMostPodBytes);
  }
  if (variable(environment, "KUBERNETES_SERVICE_HOST").empty()) return "";
  return variable(environment, "HOSTNAME").substr(0, kMostPodBytes);
}

std::vector<pid_t> processes_with(const std::string& name, const std::string& ending,
                                  const std::optional<PidSpan>& span) {
  std::vector<pid_t> found;
  const auto look_at = [&](pid_t pid) {
    const std::string environment = '\0' + read_environment(pid);
    const size_t at = environment.find('\0' + name + '=');
    if (at == std::string::npos) return;
    const std::string variable = environment.substr(at + 1, environment.find('\0', at + 1) - at - 1);
    if (variable.ends_with(ending)) found.push_back(pid);
  };
  if (span) {
    for (pid_t pid = span->first; pid != span->last;) look_at(++pid);
    std::erase_if(found, [](pid_t pid) { return !is_process(pid); });
    return found;
  }
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr == end) look_at(pid);
  }
  closedir(folder);
  return found;
}

}  // namespace heapprof::cli
