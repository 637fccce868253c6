// tests/targets/processes/forks_among_unloads.cc: one thread loads and unloads libraries without end, another forks;
// each child allocates once and ends. Where the fork fell into an unload, the loader's list in the child still names an
// object that is not mapped any more. Prints how many children did not end well.
//
// usage: forks_among_unloads LIBRARY… FORKS
#include "../keep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<bool> g_is_over{false};
int g_count;
char** g_libraries;

void* reload(void*) {
  while (!g_is_over.load()) {
    void* handles[16] = {};
    for (int i = 0; i < g_count && i < 16; ++i) handles[i] = dlopen(g_libraries[i], RTLD_NOW | RTLD_LOCAL);
    for (void* handle : handles) {
      if (handle != nullptr) dlclose(handle);
    }
  }
  return nullptr;
}

KEEP_FRAME void allocate_in_child() { keep(malloc(1237)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  g_count = argc - 2;
  g_libraries = argv + 1;
  pthread_t thread;
  pthread_create(&thread, nullptr, reload, nullptr);
  int bad = 0;
  for (int i = 0; i < atoi(argv[argc - 1]); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      allocate_in_child();
      _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) ++bad;
  }
  g_is_over = true;
  pthread_join(thread, nullptr);
  printf("bad %d\n", bad);
  return 0;
}
