// tests/targets/gate/planted_growth.cc: a table of answers that nobody ever drops: it grows as long as the program
// runs.
#include "../keep.h"
#include "paced.h"

#include <new>

struct Answer {
  Answer* before;
  char text[1227];
};
static Answer* g_answers;

KEEP_FRAME void remember_answer() { g_answers = new (keep(malloc(sizeof(Answer)))) Answer{g_answers, {}}; }

int main(int argc, char**) {
  const Pace pace(1.6);
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = pace.passed();
    for (; count < passed * 3000; ++count) remember_answer();
  }
  if (argc > 1) {  // tidies up at its end, as a destructor would
    while (g_answers != nullptr) {
      Answer* const before = g_answers->before;
      free(g_answers);
      g_answers = before;
    }
  }
  return 0;
}
