// tests/targets/gate/planted_small_never_freed.cc: ten thousand messages, each on the heap, and nobody frees one of
// them; in a run that is too short to be looked at over time. With a word, as fast as it goes.
#include "../keep.h"
#include "paced.h"

#include <string.h>

KEEP_FRAME char* read_message(int number) {
  char* const message = static_cast<char*>(keep(malloc(2051)));
  memset(message, number, 2051);
  return message;
}

int main(int argc, char**) {
  const Pace pace(0.3);
  int sum = 0;
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = argc > 1 ? 1 : pace.passed();
    for (; count < passed * 10'000; ++count) sum += read_message(count)[7];
  }
  return sum == 1 ? 97 : 0;
}
