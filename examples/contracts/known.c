/* examples/contracts/known.c: a program whose memory is known to the byte: 1,000 blocks of 1,235 bytes, of which
 * 5 are kept.
 *
 *   known          ends well          known kill     ends by SIGKILL, which cannot be caught
 *   known abort    ends by SIGABRT    known absent   exit 0 if there is no trace of heapprof in it, else 1
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlocks = 1000, kKept = 5, kSize = 1235 };
static void* volatile kept[kKept];

__attribute__((noinline)) static void* volatile* take_block(void* volatile* where) {
  *where = malloc(kSize);
  return where;
}

/* The maps of the process, read by hand: stdio would allocate. */
static int is_mapped(const char* name) {
  static char text[1 << 20];
  size_t size = 0;
  const int fd = open("/proc/self/maps", O_RDONLY);
  if (fd < 0) return 1;
  for (ssize_t got; size + 1 < sizeof text && (got = read(fd, text + size, sizeof text - 1 - size)) > 0;)
    size += (size_t)got;
  close(fd);
  return strstr(text, name) != NULL;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "absent") == 0) return is_mapped("libheapprof") || getenv("LD_PRELOAD") != NULL;
  for (int i = 0; i < kBlocks - kKept; ++i) {
    void* volatile block;
    free(*take_block(&block));
  }
  for (int i = 0; i < kKept; ++i) take_block(&kept[i]);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "abort") == 0) abort();
  return 0;
}
