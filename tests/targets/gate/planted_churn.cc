// tests/targets/gate/planted_churn.cc: a function that needs the same room in every call, and gets it anew each time.
// Usage: planted_churn [CALLS BYTES]
#include "../keep.h"

#include <stdlib.h>

KEEP_FRAME void smooth_row(size_t bytes) {
  char* const workspace = static_cast<char*>(keep(malloc(bytes)));
  workspace[0] = 1;
  free(keep(workspace));
}

int main(int argc, char** argv) {
  const int calls = argc > 2 ? atoi(argv[1]) : 20'000;
  const size_t bytes = argc > 2 ? strtoul(argv[2], nullptr, 10) : 4099;
  for (int call = 0; call < calls; ++call) smooth_row(bytes);
  return 0;
}
