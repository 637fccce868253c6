// tests/targets/processes/forks_from_threads.cc: THREADS threads each fork 5 children, while all of them allocate.
// Prints the children's pids.
//
// usage: forks_from_threads THREADS
#include "../keep.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

KEEP_FRAME void allocate_in_parent() { free(keep(malloc(1235))); }
KEEP_FRAME void allocate_in_child() { keep(malloc(1237)); }

static void fork_all() {
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 1000; ++k) allocate_in_parent();
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 11; ++k) allocate_in_child();
      _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) _exit(97);
    dprintf(1, "%d\n", child);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  std::vector<std::thread> threads;
  for (int i = 0; i < atoi(argv[1]); ++i) threads.emplace_back(fork_all);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
