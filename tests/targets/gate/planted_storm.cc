// tests/targets/gate/planted_storm.cc: a tree of three hundred thousand nodes, each a block of its own.
#include "../keep.h"

#include <set>

KEEP_FRAME void insert_key(std::set<int>* keys, int key) { keys->insert(key); }

int main() {
  std::set<int> keys;
  for (int i = 0; i < 300'000; ++i) insert_key(&keys, i);
  return keys.size() == 300'000 ? 0 : 97;
}
