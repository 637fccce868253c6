// tests/targets/gate/planted_start_peak.cc: reads 24 MB at its start, keeps 300 KB of it, and works with that for the
// rest of its run.
#include "../keep.h"
#include "paced.h"

#include <vector>

KEEP_FRAME void* read_part() { return keep(malloc(12'007)); }

KEEP_FRAME void read_input() {
  std::vector<void*> parts;
  parts.reserve(2000);
  for (int i = 0; i < 2000; ++i) parts.push_back(read_part());
  for (void* const part : parts) free(part);
}

KEEP_FRAME void* make_index() { return keep(malloc(300'007)); }

int main() {
  read_input();
  void* const index = make_index();
  const Pace pace(1.2);
  while (pace.passed() < 1) {
  }
  free(keep(index));
  return 0;
}
