// tests/targets/gate/planted_never_freed.cc: frames of a film, each in a large block; every second one is forgotten.
#include "../keep.h"
#include "paced.h"

KEEP_FRAME void* decode_frame() { return keep(malloc(400'003)); }

int main() {
  const Pace pace(0.5);
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = pace.passed();
    for (; count < passed * 24; ++count) {
      void* frame = decode_frame();
      if (count % 2 == 0) free(frame);
    }
  }
  return 0;
}
