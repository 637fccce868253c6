// tests/targets/end/holds_each_other.cc: loses memory whose owners are known: cycles of shared_ptr, cycles of plain
// pointers, and blocks that alone lead to others. No address of it is left when the program ends: what is below main is
// wiped.
// usage: holds_each_other [pairs] [lists] [tables] [many]
//   pairs   40 parents that point to their child, which points back, each with 4,000 B of text
//   lists   30 lists, linked both ways, of 3 nodes of 1,235 B
//   tables  2 tables that lead to 150 rows of 1,236 B each, which lead nowhere; and one that has none
//   many    300 functions' worth of stacks: each loses a block of 1,240 B
#include "../keep.h"

#include <stdio.h>
#include <string.h>

#include <memory>
#include <vector>

namespace {

struct Child;
struct Parent {
  std::shared_ptr<Child> child;
  std::vector<char> text;
};
struct Child {
  std::shared_ptr<Parent> parent;
  uint64_t words[2] = {};
};

KEEP_FRAME std::shared_ptr<Parent> make_parent() { return std::make_shared<Parent>(); }
KEEP_FRAME std::shared_ptr<Child> make_child() { return std::make_shared<Child>(); }
KEEP_FRAME void fill_text(Parent* parent) { parent->text.assign(4000, 'x'); }

KEEP_FRAME void lose_pairs() {
  for (int i = 0; i < 40; ++i) {
    const std::shared_ptr<Parent> parent = make_parent();
    fill_text(parent.get());
    parent->child = make_child();
    parent->child->parent = parent;
  }
}

struct Node {
  Node* next;
  Node* before;
  char text[1235 - 2 * sizeof(Node*)];
};

KEEP_FRAME Node* make_node(Node* before) {
  Node* const node = static_cast<Node*>(keep(malloc(1235)));
  memset(node, 0x81, 1235);
  node->before = before;
  node->next = nullptr;
  if (before != nullptr) before->next = node;
  return node;
}

KEEP_FRAME void lose_lists() {
  for (int i = 0; i < 30; ++i) keep(make_node(make_node(make_node(nullptr))));
}

KEEP_FRAME void** make_table() {
  void* const table = keep(malloc(150 * sizeof(void*)));
  memset(table, 0, 150 * sizeof(void*));
  return static_cast<void**>(table);
}
KEEP_FRAME void* make_row() {
  void* const row = keep(malloc(1236));
  memset(row, 0x81, 1236);
  return row;
}
KEEP_FRAME void lose_tables() {
  for (int i = 0; i < 3; ++i) {
    void** const table = make_table();
    for (int k = 0; k < 150 && i != 2; ++k) table[k] = make_row();
    keep(table);
  }
}

// Each of so many numbers has a stack of its own: which of two calls is made at each level is one of its bits.
KEEP_FRAME void lose_one(unsigned number, int level) {
  if (level == 0) {
    memset(keep(malloc(1240)), 0x81, 1240);
    return;
  }
  if ((number >> level & 1) != 0) {
    lose_one(number, level - 1);
    asm volatile("");
  } else {
    lose_one(number, level - 1);
    asm volatile("nop");
  }
}

// What was on the stack is as if it had never been.
KEEP_FRAME void wipe_below() {
  char room[64 << 10];
  memset(room, 0, sizeof room);
  asm volatile("" ::"r"(room) : "memory");
}

KEEP_FRAME void lose(int count, char** ways) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(ways[i], "pairs") == 0) lose_pairs();
    if (strcmp(ways[i], "lists") == 0) lose_lists();
    if (strcmp(ways[i], "tables") == 0) lose_tables();
    for (unsigned number = 0; number < 300 && strcmp(ways[i], "many") == 0; ++number) lose_one(number << 1, 9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lose(argc, argv);
  wipe_below();
}
