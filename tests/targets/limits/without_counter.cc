// tests/targets/limits/without_counter.cc: forbids itself the time stamp counter, or has it forbidden from the start,
// and allocates: in a process and its forked child, or in a thread.
//   without_counter starts PROGRAM…    forbids it, and becomes the program
//   without_counter forks              forbids it, and forks; the child allocates, too
//   without_counter among PROGRAM…     two children allocate, and a third one forbids it and becomes the program
//   without_counter thread             a thread forbids it to itself, past libc, and has another thread made
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

__attribute__((noinline)) void allocate_parent() {
  for (int i = 0; i < 1000; ++i) free(malloc(1235));
}
__attribute__((noinline)) void allocate_child() {
  for (int i = 0; i < 1000; ++i) free(malloc(1236));
}

void forbid() {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) _exit(9);
}

// Asks the kernel by an instruction of the program's own, which no hook sees.
void forbid_unseen() {
  long result = SYS_prctl;
  asm volatile("syscall" : "+a"(result) : "D"(PR_SET_TSC), "S"(PR_TSC_SIGSEGV) : "rcx", "r11", "memory");
  if (result != 0) _exit(9);
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "starts") == 0) {
    forbid();
    execvp(arguments[2], arguments + 2);
    return 8;
  }
  allocate_parent();
  if (strcmp(what, "among") == 0) {
    for (int i = 0; i < 3; ++i) {
      const pid_t child = fork();
      if (child == 0 && i < 2) {
        allocate_child();
        _exit(7);
      }
      if (child == 0) {
        forbid();
        execvp(arguments[2], arguments + 2);
        _exit(8);
      }
      int status = 0;
      waitpid(child, &status, 0);
      printf("child %d\n", status);
      usleep(100'000);  // heapprof prepares a collector for the next one
    }
    return 6;
  }
  if (strcmp(what, "thread") == 0) {
    std::thread([] {
      forbid_unseen();
      std::thread(allocate_child).join();
    }).join();
    return 3;
  }
  if (strcmp(what, "forks") != 0) return 4;
  forbid();
  allocate_parent();
  const pid_t child = fork();
  if (child == 0) {
    allocate_child();
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  return 5;
}
