// tests/bench/churn.cc: a program of the shape of espresso, the logic minimizer of allocators' benchmarks: some 33
// million small blocks, of which a few thousand live at a time, from a recursion whose depth and lines change all the
// time.
//
//   churn [ROUNDS]      of about 110,000 blocks each; the same work for the same argument
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// A set of bits, as a cube is one: a count of words, then the words.
using Set = uint32_t*;

uint32_t g_random = 1;

uint32_t next_random() { return g_random = g_random * 1664525u + 1013904223u; }

[[gnu::noinline]] Set new_set(uint32_t words) {
  const Set set = static_cast<Set>(std::malloc((words + 1) * sizeof(uint32_t)));
  set[0] = words;
  return set;
}

[[gnu::noinline]] Set full_set(uint32_t words) {
  const Set set = new_set(words);
  std::memset(set + 1, 0xFF, words * sizeof(uint32_t));
  return set;
}

[[gnu::noinline]] Set both(const uint32_t* a, const uint32_t* b) {
  const Set set = new_set(a[0]);
  for (uint32_t i = 1; i <= a[0]; ++i) set[i] = a[i] & b[i];
  return set;
}

[[gnu::noinline]] Set either(const uint32_t* a, const uint32_t* b) {
  const Set set = new_set(a[0]);
  for (uint32_t i = 1; i <= a[0]; ++i) set[i] = a[i] | b[i];
  return set;
}

uint32_t count_bits(const uint32_t* set) {
  uint32_t bits = 0;
  for (uint32_t i = 1; i <= set[0]; ++i) bits += static_cast<uint32_t>(__builtin_popcount(set[i]));
  return bits;
}

// A cover: cubes, and room for more.
struct Cover {
  Set* cubes;
  uint32_t count;
};

[[gnu::noinline]] Cover new_cover(uint32_t count, uint32_t words) {
  Cover cover{static_cast<Set*>(std::malloc(count * sizeof(Set))), count};
  for (uint32_t i = 0; i < count; ++i) {
    cover.cubes[i] = full_set(words);
    cover.cubes[i][1 + next_random() % words] = next_random();
  }
  return cover;
}

void free_cover(const Cover& cover) {
  for (uint32_t i = 0; i < cover.count; ++i) std::free(cover.cubes[i]);
  std::free(cover.cubes);
}

// The cofactor of a cover against a cube, and what is below it.
[[gnu::noinline]] uint32_t tautology(const Cover& cover, const uint32_t* cube, uint32_t levels) {
  Cover part{static_cast<Set*>(std::malloc(cover.count * sizeof(Set))), cover.count};
  uint32_t found = 0;
  for (uint32_t i = 0; i < cover.count; ++i) {
    const Set merged = either(cover.cubes[i], cube);
    part.cubes[i] = both(merged, cover.cubes[(i + 1) % cover.count]);
    found += count_bits(merged) & 1;
    std::free(merged);
  }
  if (levels != 0) {
    const Set left = both(cube, part.cubes[0]);
    const Set right = either(cube, part.cubes[part.count - 1]);
    found += tautology(part, left, levels - 1);
    found += tautology(part, right, levels - 1 - (levels > 1 && next_random() % 4 == 0));
    std::free(right);
    std::free(left);
  }
  free_cover(part);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  uint64_t found = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint32_t words = 1 + static_cast<uint32_t>(round) % 6;
    const Cover cover = new_cover(24 + static_cast<uint32_t>(round) % 17, words);
    const Set cube = full_set(words);
    found += tautology(cover, cube, 10);
    std::free(cube);
    free_cover(cover);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(found));
}
