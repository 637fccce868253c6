// tests/targets/gate/planted_churn.cc: a function that needs the same room in every call, and gets it anew each time.
#include "../keep.h"

#include <string.h>

KEEP_FRAME void smooth_row(int row) {
  void* const workspace = keep(malloc(4099));
  memset(workspace, row, 4099);
  free(keep(workspace));
}

int main() {
  for (int row = 0; row < 20'000; ++row) smooth_row(row);
  return 0;
}
