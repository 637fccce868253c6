// tests/targets/limits/files_of_others.cc: one thread closes all descriptors from 3 on and opens a file again and
// again; others start programs, in vain too, and fork children that allocate. Nobody else opens a file: so the file is
// always number 3, and open until its thread closes it.
//
// Prints how often it was another number or closed, and whether a record lock on the executable, a count of threads and
// wait() are as they should be.
// usage: files_of_others STARTS | leaf | refused (after making a thread, becomes a program that may have no more tasks)
#include "../keep.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> g_stop{false};
std::atomic<long> g_rounds{0}, g_moved{0}, g_closed{0}, g_failed_starts{0};

void close_and_open() {
  struct stat first {
  }, facts{};
  stat("/dev/zero", &first);
  for (; !g_stop; ++g_rounds) {
    syscall(SYS_close_range, 3, ~0u, 0);
    const int fd = open("/dev/zero", O_RDONLY);
    if (fd != 3) ++g_moved;
    for (int i = 0; i < 20; ++i) {
      if (fstat(fd, &facts) == 0 && facts.st_ino == first.st_ino) continue;
      ++g_closed;
      break;
    }
  }
}

char g_name[] = "/proc/self/exe", g_leaf[] = "leaf";
char* g_arguments[] = {g_name, g_leaf, nullptr};

void wait_for(pid_t child, int want) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != want) ++g_failed_starts;
}

void start_one(int how) {
  pid_t child = 0;
  switch (how % 4) {
    case 0:
      if (posix_spawn(&child, g_name, nullptr, nullptr, g_arguments, environ) != 0) abort();
      return wait_for(child, 42);
    case 1:
      if (posix_spawnp(&child, "true", nullptr, nullptr, g_arguments, environ) != 0) abort();
      return wait_for(child, 0);
    case 2:
      child = vfork();
      if (child == 0) {
        execve(g_name, g_arguments, environ);
        _exit(9);
      }
      return wait_for(child, 42);
    default:
      child = fork();
      if (child == 0) {
        for (int i = 0; i < 10; ++i) keep(malloc(1235));
        execve(g_name, g_arguments, environ);
        _exit(9);
      }
      return wait_for(child, 42);
  }
}

// Scripts that are each other's interpreters, more than the kernel follows: an exec that looks at many files, and
// fails.
char g_script[] = "script0";
void write_scripts() {
  for (char i = '0'; i < '9'; ++i) {
    const std::string name = std::string("script") + i;
    FILE* file = fopen(name.c_str(), "w");
    fprintf(file, "#!script%c\n", i + 1);
    fchmod(fileno(file), 0755);
    fclose(file);
  }
}
void fail_to_start() {
  char* arguments[] = {g_script, nullptr};
  if (execve(g_script, arguments, environ) != -1 || errno != ELOOP) ++g_failed_starts;
}

// True if this process holds its lock on the executable, as another process sees it.
bool holds_lock() {
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    const int fd = open(g_name, O_RDONLY);
    _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK && lock.l_pid == self ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

void take_lock() {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  const int fd = open(g_name, O_RDONLY);
  dup2(fd, 0);
  close(fd);  // which releases all locks, later on
  if (fcntl(0, F_SETLK, &lock) != 0) abort();
}

// The kernel has no task to give now and then, where many are made.
template <typename Work>
std::thread make_thread(Work work) {
  for (int tries = 0;; ++tries) {
    try {
      return std::thread(work);
    } catch (const std::system_error&) {
      if (tries == 100) throw;
      usleep(10000);
    }
  }
}

// Each start in a process of one thread leaves it one of one thread: what asks for that works at once.
int count_refused_unshares(int starts) {
  int refused = 0;
  for (int i = 0; i < starts; ++i) {
    start_one(i);
    if (unshare(CLONE_VM) != 0) ++refused;
  }
  return refused;
}

int become_without_tasks() {
  std::thread waiting([] { pause(); });
  const rlimit none{1, 1};
  if (setuid(65534) != 0 || setrlimit(RLIMIT_NPROC, &none) != 0) return 77;
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  execve(program, arguments, environ);
  return 9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "leaf") return keep(malloc(1236)), 42;
  if (argc > 1 && std::string(argv[1]) == "refused") return become_without_tasks();
  const int starts = argc > 1 ? atoi(argv[1]) : 100;
  write_scripts();
  take_lock();
  const int refused = count_refused_unshares(starts / 4);
  const bool kept_alone = holds_lock();
  std::thread storm = make_thread(close_and_open);
  std::vector<std::thread> starters;
  for (int thread = 0; thread < 2; ++thread) {
    starters.push_back(make_thread([starts] {
      for (int i = 0; i < starts / 2; ++i) start_one(i);
    }));
    starters.push_back(make_thread([starts] {
      for (int i = 0; i < starts * 20; ++i) fail_to_start();
    }));
  }
  for (std::thread& thread : starters) thread.join();
  g_stop = true;
  storm.join();
  int status = 0;
  const bool nobody_left = waitpid(-1, &status, __WALL) == -1 && errno == ECHILD;
  printf("moved %ld closed %ld failed %ld refused %d lock %d %d left %d\n", g_moved.load(), g_closed.load(),
         g_failed_starts.load(), refused, kept_alone, holds_lock(), !nobody_left);
  fprintf(stderr, "%ld rounds\n", g_rounds.load());
  return 0;
}
