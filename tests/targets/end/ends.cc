// tests/targets/end/ends.cc: allocates, counts what it did in a shared file, and ends in the way that it is told to.
//
// usage: ends HOW COUNT COUNTER_FILE      HOW: return exit _exit quick_exit abort segv sigkill forever
// Blocks of 1235 bytes; each third is freed. "forever" allocates until someone kills it, and says on stdout when it has
// allocated COUNT blocks. The counts are raised after each call, so a killed program's profile may be one call ahead.
#include "../keep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct Counts {
  volatile uint64_t allocations;
  volatile uint64_t frees;
};

KEEP_FRAME void* allocate_one() { return keep(malloc(1235)); }

KEEP_FRAME void do_one(Counts* counts) {
  void* block = allocate_one();
  counts->allocations = counts->allocations + 1;
  if (counts->allocations % 3 != 0) return;
  free(block);
  counts->frees = counts->frees + 1;
}

static int* volatile g_nowhere;

KEEP_FRAME void end_by(const char* how) {
  if (strcmp(how, "exit") == 0) exit(7);
  if (strcmp(how, "_exit") == 0) _exit(8);
  if (strcmp(how, "quick_exit") == 0) quick_exit(9);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) *g_nowhere = 1;
  if (strcmp(how, "sigkill") == 0) kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  if (argc != 4) return 98;
  int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Counts)) != 0) return 97;
  void* memory = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 96;
  close(fd);
  auto* counts = static_cast<Counts*>(memory);
  uint64_t count = strtoull(argv[2], nullptr, 10);
  for (uint64_t i = 0; i < count; ++i) do_one(counts);
  if (strcmp(argv[1], "forever") == 0) {
    (void)!write(1, "go\n", 3);
    for (;;) do_one(counts);
  }
  end_by(argv[1]);
  return 6;
}
