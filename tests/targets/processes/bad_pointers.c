// tests/targets/processes/bad_pointers.c: calls every function that starts programs with pointers that are none, in a
// child and in a vfork child of that, and prints what came of each call.
//
// Each call is made in a process of its own, so that a death is an outcome like any other: "execve environment/1 vfork:
// EFAULT".
// usage: bad_pointers all|few; with other arguments, such as those that it gives itself: exits with 42
//        few: every fifth call, which are some of each function, in either way, and of each case
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { kPage = 4096, kManyEntries = 3000000 };

static const char g_program[] = "/proc/self/exe";
static char* g_leaf[] = {"bad_pointers", "leaf", NULL};
static char* g_plain[] = {"A=1", "PATH=/nowhere", "B=2", NULL};
static int g_descriptor;
static size_t g_every = 1;

struct Call {
  const char* path;
  char* const* arguments;
  char* const* variables;
};

// What comes of it, in memory that the child shares.
struct Outcome {
  int returned;
  int error;
  int spawned_status;
};
static struct Outcome* g_outcome;

// `text` such that the page after its last byte cannot be read, and no zero byte unless it has one.
static void* at_page_end(const void* bytes, size_t size) {
  const size_t pages = (size + kPage - 1) / kPage;
  char* start = mmap(NULL, (pages + 1) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) abort();
  mprotect(start + pages * kPage, kPage, PROT_NONE);
  return memcpy(start + pages * kPage - size, bytes, size);
}

static int call_execve(struct Call c) { return execve(c.path, c.arguments, c.variables); }
static int call_execvpe(struct Call c) { return execvpe(c.path, c.arguments, c.variables); }
static int call_execle(struct Call c) { return execle(c.path, "bad_pointers", "leaf", (char*)NULL, c.variables); }
static int call_fexecve(struct Call c) { return fexecve(g_descriptor, c.arguments, c.variables); }
static int call_execveat(struct Call c) { return execveat(AT_FDCWD, c.path, c.arguments, c.variables, 0); }
static int call_execveat_empty(struct Call c) {
  return execveat(g_descriptor, c.path == g_program ? "" : c.path, c.arguments, c.variables, AT_EMPTY_PATH);
}
static int call_execv(struct Call c) {
  environ = (char**)c.variables;
  return execv(c.path, c.arguments);
}
static int call_execvp(struct Call c) {
  environ = (char**)c.variables;
  return execvp(c.path, c.arguments);
}
static int call_execl(struct Call c) {
  environ = (char**)c.variables;
  return execl(c.path, "bad_pointers", "leaf", (char*)NULL);
}
static int call_execlp(struct Call c) {
  environ = (char**)c.variables;
  return execlp(c.path, "bad_pointers", "leaf", (char*)NULL);
}
static int wait_for(int error, pid_t pid) {
  errno = error;
  if (error == 0) waitpid(pid, &g_outcome->spawned_status, 0);
  return error;
}
static int call_posix_spawn(struct Call c) {
  pid_t pid = 0;
  return wait_for(posix_spawn(&pid, c.path, NULL, NULL, c.arguments, c.variables), pid);
}
static int call_posix_spawnp(struct Call c) {
  pid_t pid = 0;
  return wait_for(posix_spawnp(&pid, c.path, NULL, NULL, c.arguments, c.variables), pid);
}

static const struct {
  const char* name;
  int (*call)(struct Call);
} kCalls[] = {{"execve", call_execve},   {"execvpe", call_execvpe},         {"execle", call_execle},
              {"fexecve", call_fexecve}, {"execveat", call_execveat},       {"execveat_empty", call_execveat_empty},
              {"execv", call_execv},     {"execvp", call_execvp},           {"execl", call_execl},
              {"execlp", call_execlp},   {"posix_spawn", call_posix_spawn}, {"posix_spawnp", call_posix_spawnp}};

static void describe_status(char* text, size_t size, int status) {
  if (WIFSIGNALED(status)) {
    snprintf(text, size, "signal %d", WTERMSIG(status));
  } else {
    snprintf(text, size, "exit %d", WEXITSTATUS(status));
  }
}

static void call_in_vfork(size_t which, struct Call call) {
  int status = 0;
  char** before = environ;
  const pid_t child = vfork();
  if (child == 0) {
    g_outcome->returned = kCalls[which].call(call);
    g_outcome->error = errno;
    _exit(7);
  }
  environ = before;
  waitpid(child, &status, 0);
  char text[64];
  describe_status(text, sizeof text, status);
  printf("vfork child: %s, ", text);
  fflush(stdout);
}

static void try_call(size_t which, const char* what, struct Call call, int by_vfork) {
  memset(g_outcome, 0, sizeof *g_outcome);
  printf("%s %s%s: ", kCalls[which].name, what, by_vfork ? " vfork" : "");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (by_vfork) {
      call_in_vfork(which, call);
    } else {
      g_outcome->returned = kCalls[which].call(call);
      g_outcome->error = errno;
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  char text[64];
  char spawned[64];
  describe_status(text, sizeof text, status);
  describe_status(spawned, sizeof spawned, g_outcome->spawned_status);
  printf("%s, returned %d, %s, spawned %s\n", text, g_outcome->returned, strerrorname_np(g_outcome->error), spawned);
}

static void try_all(const char* what, struct Call call) {
  static size_t number = 0;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) {
    for (int by_vfork = 0; by_vfork < 2; ++by_vfork) {
      if (number++ % g_every == 0) try_call(i, what, call, by_vfork);
    }
  }
}

static void try_lists(const char* name, char* const** list, struct Call* call) {
  char* const* good = *list;
  char what[64];
  char* wild[] = {"A=1", (char*)1, NULL};
  char* kernel[] = {"A=1", (char*)0xffffffff80000000, NULL};
  char* odd[] = {"A=1", (char*)0x1234567890123456, NULL};
  char* cut[] = {"A=1", at_page_end("LD_PRELOA", 9), NULL};
  char* preload[] = {"A=1", at_page_end("LD_PRELOAD=/no", 14), NULL};
  char* socket[] = {"A=1", at_page_end("HEAPPROF=+/tmp/x", 16), NULL};
  char* closed[] = {"A=1", at_page_end("A", 2), at_page_end("LD_PRELOAD=", 12), at_page_end("HEAPPROF=", 10), NULL};
  char* endless[] = {"A=1", "B=2", "C=3"};
  char* nothing[] = {NULL};
  struct {
    const char* name;
    char* const* list;
  } const kinds[] = {{"null", NULL},
                     {"1", (char* const*)1},
                     {"page 0", (char* const*)8},
                     {"kernel's", (char* const*)0xffffffff80000000},
                     {"no address", (char* const*)0x1234567890123456},
                     {"last address", (char* const*)-8},
                     {"no access", (char* const*)((char*)at_page_end("", 1) + 1)},
                     {"without end", at_page_end(endless, sizeof endless)},
                     {"at page end", at_page_end(closed, sizeof closed)},
                     {"empty at page end", at_page_end(nothing, sizeof nothing)},
                     {"wild text", wild},
                     {"kernel's text", kernel},
                     {"text at no address", odd},
                     {"name without end", cut},
                     {"preload without end", preload},
                     {"socket without end", socket}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    *list = kinds[i].list;
    snprintf(what, sizeof what, "%s/%s", name, kinds[i].name);
    try_all(what, *call);
  }
  *list = good;
}

static void try_sizes(struct Call call) {
  char** many = malloc((kManyEntries + 1) * sizeof *many);
  for (size_t i = 0; i < kManyEntries; ++i) many[i] = "A=1";
  many[kManyEntries] = NULL;
  call.variables = many;
  try_all("environment/3,000,000 entries", call);
  const size_t size = 1 << 20;
  char* text = malloc(size);
  memset(text, 'x', size);
  memcpy(text, "LD_PRELOAD=/", 12);
  text[size - 1] = 0;
  char* large[] = {"A=1", text, NULL};
  call.variables = large;
  try_all("environment/1 MiB of preloads", call);
}

static void try_paths(struct Call call) {
  const char* paths[] = {"",
                         (const char*)1,
                         (const char*)-1,
                         at_page_end("/proc/self/ex", 13),
                         at_page_end("program", 7),
                         at_page_end("/proc/self/exe", 15)};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    char what[64];
    snprintf(what, sizeof what, "path/%zu", i);
    call.path = paths[i];
    try_all(what, call);
    call.variables = (char* const*)1;
    snprintf(what, sizeof what, "path/%zu environment/1", i);
    try_all(what, call);
    call.variables = g_plain;
  }
}

int main(int argc, char** argv) {
  if (argc != 2 || (strcmp(argv[1], "all") != 0 && strcmp(argv[1], "few") != 0)) return 42;
  if (strcmp(argv[1], "few") == 0) g_every = 5;
  g_outcome = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_descriptor = open(g_program, O_RDONLY);
  struct Call call = {g_program, g_leaf, g_plain};
  try_all("all good", call);
  try_lists("environment", &call.variables, &call);
  try_lists("arguments", &call.arguments, &call);
  try_sizes(call);
  try_paths(call);
  return 0;
}
