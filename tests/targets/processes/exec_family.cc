// tests/targets/processes/exec_family.cc: starts "PROGRAM one two" by the function named in argv[1], after 1235 bytes
// of its own. Functions that take an environment pass on A, LD_PRELOAD=$USER_PRELOAD if that is set, and B.
#include "../keep.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

__attribute__((noinline)) void allocate_1235() { keep(malloc(1235)); }

std::string g_user_preload;
std::vector<char*> make_environment() {
  static char first[] = "A=1", last[] = "B=2";
  std::vector<char*> variables = {first};
  if (!g_user_preload.empty()) variables.push_back(g_user_preload.data());
  variables.push_back(last);
  variables.push_back(nullptr);
  return variables;
}

int wait_for(int error, pid_t child) {
  int status = 0;
  if (error != 0) {
    errno = error;
    return -1;
  }
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int start(const std::string& how, char* program) {
  char one[] = "one", two[] = "two";
  char* arguments[] = {program, one, two, nullptr};
  const std::vector<char*> variables = make_environment();
  pid_t child = 0;
  if (how == "execve") return execve(program, arguments, variables.data());
  if (how == "execv") return execv(program, arguments);
  if (how == "execvp") return execvp(program, arguments);
  if (how == "execvpe") return execvpe(program, arguments, variables.data());
  if (how == "execl") return execl(program, program, one, two, static_cast<char*>(nullptr));
  if (how == "execlp") return execlp(program, program, one, two, static_cast<char*>(nullptr));
  if (how == "execle") return execle(program, program, one, two, static_cast<char*>(nullptr), variables.data());
  if (how == "fexecve") return fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, variables.data());
  if (how == "execveat") return execveat(AT_FDCWD, program, arguments, variables.data(), 0);
  if (how == "execveat_empty")
    return execveat(open(program, O_PATH | O_CLOEXEC), "", arguments, variables.data(), AT_EMPTY_PATH);
  if (how == "fexecve_deleted") {
    const int fd = memfd_create("copy", MFD_CLOEXEC);
    const int from = open(program, O_RDONLY | O_CLOEXEC);
    char bytes[4096];
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;) {
      if (write(fd, bytes, static_cast<size_t>(got)) != got) return 95;
    }
    return fexecve(fd, arguments, variables.data());
  }
  char* volatile nothing = nullptr;
  if (how == "execl_nothing") return execl(program, nothing);
  if (how == "posix_spawn")
    return wait_for(posix_spawn(&child, program, nullptr, nullptr, arguments, variables.data()), child);
  if (how == "posix_spawnp")
    return wait_for(posix_spawnp(&child, program, nullptr, nullptr, arguments, variables.data()), child);
  if (how == "vfork") {
    child = vfork();
    if (child == 0) {
      execve(program, arguments, variables.data());
      _exit(99);
    }
    return wait_for(0, child);
  }
  if (how == "system") return WEXITSTATUS(system((std::string(program) + " one two").c_str()));
  return 98;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 97;
  if (const char* preload = getenv("USER_PRELOAD")) g_user_preload = std::string("LD_PRELOAD=") + preload;
  unsetenv("USER_PRELOAD");
  allocate_1235();
  const int result = start(argv[1], argv[2]);
  if (result >= 0) return result;
  printf("%s: %s\n", argv[1], strerror(errno));
  return 96;
}
