/* tests/targets/gate/wrapped.c: a program whose blocks all come from wrappers around malloc: zmalloc, which everybody
   knows; grab, which nobody knows and eight functions call, each for its own size; and parse, which looks like neither.
   With "churn" a caller of zmalloc makes a block at a time. The other words are functions that a careless reader would
   take for wrappers, and that are the answer:
     load        reads for three callers, 100 KiB and more each
     push        grows what twelve callers fill
     make_node   makes nodes of one size for twelve callers
     build       calls itself
   With a second word nothing is freed. GRABS in the environment is how many blocks each of the eight callers of grab
   gets (1,000). */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static void* kept[200000];
static size_t kept_count;

static void keep(void* block) {
  memset(block, 1, 1);
  kept[kept_count++] = block;
}

NOINLINE void* zmalloc(size_t size) {
  void* block = malloc(size);
  __asm__ volatile("" ::: "memory");
  return block;
}
NOINLINE void* grab(size_t size) {
  void* block = malloc(size);
  __asm__ volatile("" ::: "memory");
  return block;
}

/* Names and sizes of the callers. */
#define CALLERS(X)  \
  X(index_word, 24) \
  X(index_line, 40) \
  X(open_table, 88) X(add_symbol, 104) X(new_scope, 136) X(note_type, 152) X(keep_token, 184) X(new_module, 264)
#define DEFINE(name, size)             \
  NOINLINE void name(void) {           \
    keep(grab(size));                  \
    __asm__ volatile("" ::: "memory"); \
  }
CALLERS(DEFINE)

NOINLINE void read_config(void) {
  keep(zmalloc(100000));
  __asm__ volatile("" ::: "memory");
}
NOINLINE void read_line(void) {
  free(zmalloc(100));
  __asm__ volatile("" ::: "memory");
}
NOINLINE void parse(void) {
  keep(malloc(100));
  __asm__ volatile("" ::: "memory");
}

NOINLINE void* load(size_t which) {
  void* block = malloc(100000 + 1000 * which);
  __asm__ volatile("" ::: "memory");
  return block;
}
#define LOADERS(X) X(load_textures, 1) X(load_sounds, 2) X(load_levels, 3)
#define DEFINE_LOADER(name, which)                 \
  NOINLINE void name(void) {                       \
    for (int i = 0; i < 4; ++i) keep(load(which)); \
    __asm__ volatile("" ::: "memory");             \
  }
LOADERS(DEFINE_LOADER)

struct list {
  char* bytes;
  size_t used, room;
};
NOINLINE void push(struct list* list) {
  if (list->used == list->room) {
    list->room = list->room == 0 ? 16 : 2 * list->room;
    char* bytes = malloc(list->room);
    if (list->used > 0) memcpy(bytes, list->bytes, list->used);
    free(list->bytes);
    list->bytes = bytes;
  }
  list->bytes[list->used++] = 'x';
}
NOINLINE void* make_node(void) {
  void* node = malloc(48);
  __asm__ volatile("" ::: "memory");
  return node;
}
#define USERS(X) \
  X(user_a, 1)   \
  X(user_b, 2)   \
  X(user_c, 3)   \
  X(user_d, 4)   \
  X(user_e, 5) X(user_f, 6) X(user_g, 7) X(user_h, 8) X(user_i, 9) X(user_j, 10) X(user_k, 11) X(user_l, 12)
#define DEFINE_USER(name, number)                         \
  NOINLINE void fill_##name(void) {                       \
    for (int many = 0; many < 100; ++many) {              \
      struct list list = {0, 0, 0};                       \
      for (int i = 0; i < 100 * number; ++i) push(&list); \
      keep(list.bytes);                                   \
    }                                                     \
  }                                                       \
  NOINLINE void grow_##name(void) {                       \
    for (int i = 0; i < 500; ++i) keep(make_node());      \
  }
USERS(DEFINE_USER)

NOINLINE void build(int depth, size_t size) {
  for (int i = 0; i < 20; ++i) keep(malloc(size));
  if (depth > 0) build(depth - 1, size);
  __asm__ volatile("" ::: "memory");
}
#define BUILDERS(X) \
  X(part_a, 8)      \
  X(part_b, 16) X(part_c, 24) X(part_d, 32) X(part_e, 40) X(part_f, 48) X(part_g, 56) X(part_h, 64) X(part_i, 72)
#define DEFINE_BUILDER(name, size)     \
  NOINLINE void name(void) {           \
    build(10, size);                   \
    __asm__ volatile("" ::: "memory"); \
  }
BUILDERS(DEFINE_BUILDER)

#define CALL_TIMES(name, size) \
  for (int i = 0; i < times; ++i) name();
#define CALL(name, number) name();
#define CALL_FILL(name, number) fill_##name();
#define CALL_GROW(name, number) grow_##name();

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int times = getenv("GRABS") != NULL ? atoi(getenv("GRABS")) : 1000;
  const int leave = argc > 2;
  if (strcmp(what, "wrapped") == 0) {
    CALLERS(CALL_TIMES)
    for (int i = 0; i < 20; ++i) read_config();
    for (int i = 0; i < 1000; ++i) parse();
  }
  for (int i = 0; i < 20000 && strcmp(what, "churn") == 0; ++i) read_line();
  if (strcmp(what, "load") == 0) {
    LOADERS(CALL)
  }
  if (strcmp(what, "push") == 0) {
    USERS(CALL_FILL)
  }
  if (strcmp(what, "make_node") == 0) {
    USERS(CALL_GROW)
  }
  if (strcmp(what, "build") == 0) {
    BUILDERS(CALL)
  }
  for (size_t i = 0; i < kept_count && !leave; ++i) free(kept[i]);
  return 0;
}
