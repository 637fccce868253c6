// tests/targets/limits/restricts_itself.cc: takes something away from itself after its start, and goes on allocating.
//
// usage: restricts_itself [WHAT [ask]]      WHAT: a name of the table below, which it prints if there is none
// 3 blocks of 1235 bytes before; 60,000 blocks of 1237 after, more than a ring holds, of which all but 4 are freed;
// then 3 of 1239 from a library that did not allocate before. With `ask` it says "go" and reads a byte before. Exit
// status 11; 97: refused.
#include "../keep.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

KEEP_FRAME void allocate_before() { keep(malloc(1235)); }
KEEP_FRAME void* allocate_after() { return keep(malloc(1237)); }
using Allocate = void* (*)(size_t);
static Allocate g_allocate_last;

static void go_on() {
  void* held[4] = {};
  for (int i = 0; i < 60000; ++i) {
    free(held[i % 4]);
    held[i % 4] = allocate_after();
  }
  for (int i = 0; i < 3; ++i) keep(g_allocate_last(1239));
}

static bool limit(int what, rlim_t value) {
  struct rlimit wanted = {value, value};
  return setrlimit(static_cast<__rlimit_resource>(what), &wanted) == 0;
}

static bool child_allocates() {
  const pid_t child = fork();
  if (child == 0) {
    allocate_before();
    _exit(5);
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 5 << 8;
}

static bool no_descriptors() { return limit(RLIMIT_NOFILE, 3); }

// Its children can open no socket in their own table.
static bool no_descriptors_forks() {
  if (!limit(RLIMIT_NOFILE, 3)) return false;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      go_on();
      _exit(5);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5) return false;
  }
  return true;
}

// Children that can be no part of the run.
static bool no_descriptor_forks() { return limit(RLIMIT_NOFILE, 0) && child_allocates(); }
static bool no_memory_forks() {
  const struct rlimit usual = {RLIM_INFINITY, RLIM_INFINITY};
  const struct rlimit none = {1'000'000, RLIM_INFINITY};
  const bool is_done = setrlimit(RLIMIT_AS, &none) == 0 && child_allocates();
  return setrlimit(RLIMIT_AS, &usual) == 0 && is_done;
}

static bool close_from() {
  closefrom(0);
  return true;
}
static bool close_by_range() { return close_range(0, ~0u, 0) == 0; }

static bool replace_descriptors() {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != null && dup2(null, fd) != fd) return false;
  }
  return true;
}

static bool change_user() { return setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0; }
static bool change_user_forks() { return change_user() && child_allocates(); }
static bool change_root() { return mkdir("empty_root", 0700) == 0 && chroot("empty_root") == 0 && chdir("/") == 0; }
static bool change_root_forks() { return change_root() && child_allocates(); }

static bool new_user() { return unshare(CLONE_NEWUSER) == 0; }
static bool new_mounts() { return unshare(CLONE_NEWNS) == 0; }
static bool new_network() { return unshare(CLONE_NEWNET) == 0; }
static bool new_pids() {
  if (unshare(CLONE_NEWPID) != 0) return false;
  const pid_t child = fork();  // pid 1 of the new namespace
  if (child == 0) {
    allocate_before();
    _exit(getpid() == 1 ? 5 : 6);
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 5 << 8;
}

static bool not_dumpable() { return prctl(PR_SET_DUMPABLE, 0) == 0; }
static bool no_core() { return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0); }
static bool no_processes() { return limit(RLIMIT_NPROC, 0); }
static bool no_locked_memory() { return limit(RLIMIT_MEMLOCK, 0); }
static bool all_locked() { return mlockall(MCL_CURRENT | MCL_FUTURE) == 0; }
static bool no_environment() { return clearenv() == 0 && environ == nullptr; }
static bool no_preload() { return unsetenv("LD_PRELOAD") == 0 && setenv("LD_PRELOAD", "", 1) == 0; }
static bool write_over_environment() {  // as programs do that set their title
  for (char** variable = environ; *variable != nullptr; ++variable) memset(*variable, 'x', strlen(*variable));
  return true;
}

// Only what a program needs that writes its results and ends.
static bool filter_calls(unsigned otherwise) {
  static const unsigned allowed[] = {SYS_write,    SYS_mmap, SYS_munmap, SYS_mremap,    SYS_madvise,
                                     SYS_mprotect, SYS_brk,  SYS_exit,   SYS_exit_group};
  constexpr unsigned kCount = sizeof(allowed) / sizeof(*allowed);
  struct sock_filter program[kCount + 3];
  program[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < kCount; ++i) {
    program[1 + i] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], static_cast<unsigned char>(kCount - i), 0);
  }
  program[kCount + 1] = BPF_STMT(BPF_RET | BPF_K, otherwise);
  program[kCount + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {kCount + 3, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
static bool filter_kills() { return filter_calls(SECCOMP_RET_KILL_PROCESS); }
static bool filter_refuses() { return filter_calls(SECCOMP_RET_ERRNO | EPERM); }

struct Way {
  const char* name;
  bool (*restrict_it)();
};
static constexpr Way kWays[] = {
    {"nothing", [] { return true; }},
    {"no_descriptors", no_descriptors},
    {"no_descriptors_forks", no_descriptors_forks},
    {"no_descriptor_forks", no_descriptor_forks},
    {"no_memory_forks", no_memory_forks},
    {"close_from", close_from},
    {"close_by_range", close_by_range},
    {"replace_descriptors", replace_descriptors},
    {"change_user", change_user},
    {"change_user_forks", change_user_forks},
    {"change_root", change_root},
    {"change_root_forks", change_root_forks},
    {"new_user", new_user},
    {"new_mounts", new_mounts},
    {"new_network", new_network},
    {"new_pids", new_pids},
    {"not_dumpable", not_dumpable},
    {"no_core", no_core},
    {"no_processes", no_processes},
    {"no_locked_memory", no_locked_memory},
    {"all_locked", all_locked},
    {"no_environment", no_environment},
    {"no_preload", no_preload},
    {"write_over_environment", write_over_environment},
    {"filter_kills", filter_kills},
    {"filter_refuses", filter_refuses},
};

// alpha_allocate of the library beside this program.
static Allocate find_plugin() {
  char path[PATH_MAX] = "";
  if (readlink("/proc/self/exe", path, sizeof path - 20) < 0) return nullptr;
  strcpy(strrchr(path, '/'), "/plugin_alpha.so");
  void* library = dlopen(path, RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Allocate>(dlsym(library, "alpha_allocate"));
}

int main(int argc, char** argv) {
  if (argc == 1) {  // what there is to be tried
    for (const Way& way : kWays) printf("%s\n", way.name);
    return 0;
  }
  g_allocate_last = find_plugin();
  if (g_allocate_last == nullptr) return 95;
  for (int i = 0; i < 3; ++i) allocate_before();
  for (const Way& way : kWays) {
    if (strcmp(way.name, argv[1]) != 0) continue;
    char byte;
    if (argc > 2 && (write(1, "go\n", 3) != 3 || read(0, &byte, 1) != 1)) return 96;
    if (!way.restrict_it()) return 97;
    go_on();
    return 11;
  }
  return 98;
}
