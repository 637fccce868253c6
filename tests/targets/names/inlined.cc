// tests/targets/names/inlined.cc: templates and inlined functions at -O2. The script finds lines by their marks.
#include "../keep.h"

#include <map>
#include <string>
#include <vector>

struct Tile {
  char bytes[1235];
};

template <typename T>
struct Shelf {
  std::vector<T*> items;
  [[gnu::always_inline]] void put_one() { items[0] = new T; }  // mark: put_one
};

KEEP_FRAME void fill_shelf(Shelf<Tile>* shelf) {
  shelf->put_one();  // mark: fill_shelf
  asm volatile("" ::: "memory");
}

KEEP_FRAME void grow_vector(std::vector<Tile>* tiles) {
  tiles->reserve(3);  // mark: grow_vector
  asm volatile("" ::: "memory");
}

KEEP_FRAME void fill_map(std::map<int, Tile>* map) {
  (*map)[1];  // mark: fill_map
  asm volatile("" ::: "memory");
}

int main() {
  Shelf<Tile> shelf;
  shelf.items.resize(1);
  std::vector<Tile> tiles;
  std::map<int, Tile> map;
  fill_shelf(&shelf);
  grow_vector(&tiles);
  fill_map(&map);
  keep(&shelf);
  return 0;
}
