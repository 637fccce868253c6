// tests/targets/collector/stops_collector.cc: stops its parent, which is heapprof, allocates and frees COUNT blocks
// meanwhile, and lets it go on.
//
// usage: stops_collector COUNT
#include "../keep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void* allocate_one() { return keep(malloc(1235)); }

// The state letter of /proc/PID/stat.
static char state_of(pid_t pid) {
  char path[32];
  char text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY);
  if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) return '?';
  close(fd);
  const char* name_end = strrchr(text, ')');
  return name_end == nullptr ? '?' : name_end[2];
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  const long count = atol(argv[1]);
  const pid_t collector = getppid();
  free(allocate_one());
  usleep(200'000);  // everything so far is read
  kill(collector, SIGSTOP);
  while (state_of(collector) != 'T') usleep(1000);
  for (long i = 0; i < count; ++i) free(allocate_one());
  kill(collector, SIGCONT);
  return 0;
}
