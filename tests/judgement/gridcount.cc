// tests/judgement/gridcount.cc: what is wrong with it, or not, stands in truth.tsv.
// gridcount: counts the strokes of lightning in the cells of a grid over a country.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Cell {
  std::pmr::string label;                                    // shown on the monitor
  uint32_t strokes = 0;
};

class Country {
 public:
  void stroke(uint32_t cell) {
    auto it = cells_.find(cell);
    if (it == cells_.end()) it = enter(cell);
    ++it->second.strokes;
  }
  uint32_t strokes_of(uint32_t cell) const {
    auto it = cells_.find(cell);
    return it == cells_.end() ? 0 : it->second.strokes;
  }
  size_t size() const { return cells_.size(); }

 private:
  using Cells = std::pmr::map<uint32_t, Cell>;
  Cells::iterator enter(uint32_t cell) {
    char text[48];
    snprintf(text, sizeof text, "cell in the grid, number %u", cell);
    return cells_.emplace(cell, Cell{std::pmr::string(text, &arena_), 0}).first;
  }
  std::pmr::monotonic_buffer_resource arena_{4 << 20};
  Cells cells_{&arena_};
};

uint32_t next_cell(uint64_t &seed) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return uint32_t(seed >> 33) % 600000 + 20000000;
}

void read_day(Country &country, int strokes) {
  uint64_t seed = 11;
  for (int n = 0; n < strokes; ++n) country.stroke(next_cell(seed));
}

size_t monitor(const Country &country, uint32_t from) {
  size_t stormy = 0;
  for (uint32_t i = 0; i < 200; ++i) stormy += country.strokes_of(20000000 + (from * 7919 + i * 31) % 600000) > 2;
  return stormy;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int views = 500 * (s ? atoi(s) : 1);
  Country country;
  read_day(country, 700000);
  size_t stormy = 0;
  for (int n = 0; n < views; ++n) {
    stormy += monitor(country, n);
    std::this_thread::sleep_for(2ms);
  }
  printf("%zu cells, %zu stormy\n", country.size(), stormy);
}
