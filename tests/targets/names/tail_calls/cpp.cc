// tests/targets/names/tail_calls/cpp.cc: the same in C++: members, names that only this file knows, operator new.
#include "calls.h"

#include <cstdlib>

volatile int choice = 0;
static void* volatile kept[8];
static int count;
void* keep_one(void* block) {
  kept[count++ & 7] = block;
  return block;
}

namespace shop {

LEAF(shelf)

struct Shelf {
  int rows = 1;
  LEFT void* fill(int n);
  LEFT virtual void* refill(int n);
  virtual ~Shelf() = default;
};
void* Shelf::fill(int n) { return leaf_shelf(n * rows + 1); }

LEAF(virtual)
void* Shelf::refill(int n) { return leaf_virtual(n * rows + 1); }

namespace {
LEAF(hidden)
LEFT void* left_hidden(int n) { return leaf_hidden(n + 1); }
}  // namespace

template <typename T>
LEFT T* make_many(int n) {
  return static_cast<T*>(operator new(static_cast<unsigned>(n) * sizeof(T)));
}

}  // namespace shop

CALLER(shelf) {
  shop::Shelf shelf;
  CALL(shelf.fill(n));
}
CALLER(virtual) {
  shop::Shelf* const shelf = new shop::Shelf;
  BARRIER("");
  shop::Shelf* volatile hidden = shelf;
  CALL(hidden->refill(n));
}
CALLER(hidden) { CALL(shop::left_hidden(n)); }
CALLER(many) { CALL(keep_one(shop::make_many<int>(n))); }

int main() {
  call_shelf(101);
  call_virtual(201);
  call_hidden(301);
  call_many(401);
}
