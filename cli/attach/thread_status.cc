// cli/attach/thread_status.cc: see thread_status.h.
#include "cli/attach/thread_status.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heapprof::cli {

std::vector<pid_t> thread_ids(pid_t pid) {
  std::vector<pid_t> ids;
  DIR* const folder = ::opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (folder == nullptr) return ids;
  while (const dirent* const entry = ::readdir(folder)) {
    const auto id = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (id > 0) ids.push_back(id);
  }
  ::closedir(folder);
  return ids;
}

std::string line_of_status(pid_t pid, pid_t id, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/task/" + std::to_string(id) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return "";
}

uint64_t number_in_status(pid_t pid, pid_t id, const std::string& name, int base) {
  return std::strtoull(line_of_status(pid, id, name).c_str(), nullptr, base);
}

pid_t id_in_own_namespace(pid_t pid, pid_t id) {
  const std::string ids = line_of_status(pid, id, "NSpid:");  // the last number is that of the innermost namespace
  const size_t last_at = ids.find_last_of(" \t");
  return last_at == std::string::npos ? id : static_cast<pid_t>(std::strtol(ids.c_str() + last_at, nullptr, 10));
}

bool is_dead(const std::string& state) { return state.empty() || state[0] == 'Z' || state[0] == 'X'; }

bool has_no_thread(pid_t pid) {
  const std::vector<pid_t> ids = thread_ids(pid);
  return std::all_of(ids.begin(), ids.end(), [pid](pid_t id) { return is_dead(line_of_status(pid, id, "State:\t")); });
}

}  // namespace heapprof::cli
