// tests/targets/collector/runs_on.cc: allocates COUNT blocks and frees half of them; says "go" at a tenth of the way,
// "done" at the end.
//
// usage: runs_on COUNT
#include "../keep.h"

#include <unistd.h>

KEEP_FRAME void* allocate_one() { return keep(malloc(1235)); }

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  long count = atol(argv[1]);
  void* last = nullptr;
  for (long i = 0; i < count; ++i) {
    void* block = allocate_one();
    if (i % 2 == 0) {
      last = block;
    } else {
      free(last);
      free(block);
      last = nullptr;
    }
    if (i == count / 10) (void)!write(1, "go\n", 3);
  }
  (void)!write(1, "done\n", 5);
  return 0;
}
