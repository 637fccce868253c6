// tests/targets/gate/planted_twins.cc: a picture is passed by value, so it is there twice when the program needs most.
#include "../keep.h"

#include <vector>

KEEP_FRAME std::vector<int> load_picture() { return std::vector<int>(700'001, 3); }

KEEP_FRAME long sum_up(std::vector<int> picture) {
  long sum = 0;
  for (const int value : picture) sum += value;
  return sum;
}

int main() {
  const std::vector<int> picture = load_picture();
  return sum_up(picture) == 2'100'003 ? 0 : 97;
}
