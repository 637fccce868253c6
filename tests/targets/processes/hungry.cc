// tests/targets/processes/hungry.cc: takes memory, starts others that do, becomes another program: as its arguments
// say, one after the other.
//
// usage: hungry STEP…      heap:BYTES  a block, written to
//                          map:BYTES   pages of its own, written to
//                          child       a child takes the other steps; this process waits for it and ends well
//                          many:COUNT  as many children, ten at once; the one in the middle takes 100,000 bytes, others
//                                      1235
//                          exec        becomes itself again, with the other steps
//                          die         is killed
#include "../keep.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

KEEP_FRAME void take_heap(size_t size) { memset(keep(malloc(size)), 1, size); }

KEEP_FRAME void take_pages(size_t size) {
  memset(keep(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), 1, size);
}

KEEP_FRAME void start_many(int count) {
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) {
      take_heap(i == count / 2 ? 100'000 : 1235);
      _exit(0);
    }
    if (i >= 9) wait(nullptr);
  }
  while (wait(nullptr) > 0) {
  }
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* number = strchr(argv[i], ':');
    const size_t size = number != nullptr ? strtoul(number + 1, nullptr, 10) : 0;
    if (strncmp(argv[i], "heap:", 5) == 0) {
      take_heap(size);
    } else if (strncmp(argv[i], "map:", 4) == 0) {
      take_pages(size);
    } else if (strncmp(argv[i], "many:", 5) == 0) {
      start_many(static_cast<int>(size));
    } else if (strcmp(argv[i], "child") == 0) {
      if (fork() == 0) continue;
      while (wait(nullptr) > 0) {
      }
      return 0;
    } else if (strcmp(argv[i], "exec") == 0) {
      argv[i] = argv[0];
      execv(argv[0], argv + i);
      return 97;
    } else if (strcmp(argv[i], "die") == 0) {
      raise(SIGKILL);
    } else {
      return 98;
    }
  }
  return 0;
}
