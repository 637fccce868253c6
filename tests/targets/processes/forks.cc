// tests/targets/processes/forks.cc: a parent with 3 blocks, whose children free one of them and allocate 5 of their
// own.
//
// usage: forks CHILDREN [vfork]      prints each child's pid
// vfork: each child first makes one of its own by vfork, which allocates before it ends, as shells do.
#include "../keep.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

KEEP_FRAME void* allocate_in_parent() { return keep(malloc(1235)); }
KEEP_FRAME void* allocate_in_child() { return keep(malloc(1237)); }

KEEP_FRAME void make_brief_child() {
  const pid_t child = vfork();
  if (child == 0) {
    keep(malloc(77));
    _exit(3);
  }
  int status;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) _exit(96);
}

KEEP_FRAME void live_as_child(void* inherited, bool has_child) {
  if (has_child) make_brief_child();
  free(inherited);
  void* first = allocate_in_child();
  for (int i = 0; i < 4; ++i) allocate_in_child();
  free(first);
  _exit(5);
}

int main(int argc, char** argv) {
  if (argc < 2) return 98;
  void* block = allocate_in_parent();
  allocate_in_parent();
  for (int i = 0; i < atoi(argv[1]); ++i) {
    pid_t child = fork();
    if (child == 0) live_as_child(block, argc > 2);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5) return 97;
    dprintf(1, "%d\n", child);
  }
  allocate_in_parent();
  free(block);
  return 0;
}
