// tests/targets/limits/closes_descriptors.cc: closes every descriptor it did not open, then uses their numbers;
// allocates all the while.
//
// usage: closes_descriptors [stdio]      with stdio: 0, 1 and 2 as well
#include "../keep.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

KEEP_FRAME void allocate_before() { keep(malloc(1235)); }
KEEP_FRAME void allocate_after() { keep(malloc(1237)); }

int main(int argc, char**) {
  allocate_before();
  int first = argc > 1 ? 0 : 3;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = first; fd < static_cast<int>(limit.rlim_cur < 65536 ? limit.rlim_cur : 65536); ++fd) close(fd);
  for (int i = 0; i < 20; ++i) {
    if (open("/dev/null", O_RDWR) != first + i) return 97;  // someone else holds the number
  }
  for (int i = 0; i < 1000; ++i) allocate_after();
  return 0;
}
