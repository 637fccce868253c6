// cli/target/helper_process.cc: starts and ends the helper (device_use_watch.cc says why there is one).
#include "cli/target/helper_process.h"

#include "cli/base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace heapprof::cli {

int start_helper(const std::string& helper, const std::vector<std::string>& arguments, const UniqueFd& end,
                 pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  SpawnAttributes attributes;
  attributes.leave_group();
  std::vector<char*> words = {const_cast<char*>(helper.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const int error = posix_spawn(pid, helper.c_str(), &actions, attributes.get(), words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

void end_helper(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, WNOHANG);
}

}  // namespace heapprof::cli
