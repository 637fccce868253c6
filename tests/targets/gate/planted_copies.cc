// tests/targets/gate/planted_copies.cc: a million numbers put into a vector one by one, or text into a block that grows
// by steps.
#include "../keep.h"

#include <string.h>

#include <string>
#include <vector>

KEEP_FRAME void fill_vector(std::vector<long>* numbers) {
  for (long i = 0; i < 1'000'003; ++i) numbers->push_back(i);
}

KEEP_FRAME char* append_line(char* text, size_t* length) {
  text = static_cast<char*>(realloc(text, *length + 1021));
  memset(text + *length, 'x', 1021);
  *length += 1021;
  return text;
}

// Fits into no hole that the text left, so it comes to lie behind it, where the text cannot grow then.
KEEP_FRAME void* keep_neighbour(size_t length) { return keep(malloc(length)); }

// Both are full, at rest: the one half as large as the other is no block that was left behind.
KEEP_FRAME size_t fill_two() {
  std::vector<long> numbers[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<long>* const of = &numbers[i];
    for (long n = 0; n < 600'007 >> i; ++n) of->push_back(n);
  }
  return numbers[0].size() + numbers[1].size();
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "realloc") == 0) {
    char* text = nullptr;
    size_t length = 0;
    for (int i = 0; i < 120; ++i) {
      text = append_line(text, &length);
      keep_neighbour(length);
    }
    keep(text);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "two") == 0) return fill_two() == 900'010 ? 0 : 97;
  std::vector<long> numbers;
  fill_vector(&numbers);
  return numbers.size() == 1'000'003 ? 0 : 97;
}
