# Names make no allocator: functions that do not behave as one are not believed, harm nothing when they are tried, and
# are named.
have gcc || skip "gcc is not installed"
cat >menu.c <<'C'
// A menu: mi_new takes a title, and mi_free an item.
#include <stdio.h>
#include <string.h>
#include <unistd.h>
struct item { const char* title; struct item* next; char text[48]; };
static struct item items[4096];
static unsigned used;
__attribute__((noipa)) struct item* mi_new(const char* title) {
#ifdef READS
  if (title[0] == 0) return 0;
#endif
#ifdef REMOVES  // no address of the program's
  if ((unsigned long)title < 65536) unlink("kept");
#endif
#ifdef WAITS
  if ((unsigned long)title < 65536) for (;;) pause();
#endif
  struct item* one = &items[used++];
  one->title = title;
  return one;
}
__attribute__((noipa)) void mi_free(struct item* one) { one->title = 0; }
int main(void) {
  static const char* titles[] = {"open", "save", "quit"};
  unsigned long all = 0;
  for (int i = 0; i < 99; ++i) {
    struct item* one = mi_new(titles[i % 3]);
    all += strlen(one->title);
    if (i % 2) mi_free(one);
  }
  char text[64];
  int length = snprintf(text, sizeof text, "%lu %u\n", all, used);
  fwrite(text, 1, (unsigned long)length, stdout);
  return 7;
}
C
touch kept
for way in PLAIN READS REMOVES WAITS; do
  gcc -g -O1 -D$way menu.c -o menu
  expect_status 7 ./menu
  cp out.txt alone.txt
  expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./menu
  diff alone.txt out.txt >&2 || fail "$way: another result"
  expect_in err.txt "[HP310]"
  expect_said err.txt "do not behave as an allocator's do"
  expect_eq "peak below 1 MiB ($way)" "$(json profile.json '.heapprof.devices[0].totals.peak_bytes < 1048576')" true
  [ -f kept ] || fail "trying a function removed a file"
done

# The same of a library whose functions are exported, which every program would look up by name.
sed 's/^int main.*/int unused;/;/^int unused/,$d' menu.c >library.c
cat >user.c <<'C'
#include <stdio.h>
#include <string.h>
struct item { const char* title; };
struct item* mi_new(const char* title);
void mi_free(struct item* one);
int main(void) {
  unsigned long all = 0;
  for (int i = 0; i < 99; ++i) {
    struct item* one = mi_new("open");
    all += strlen(one->title);
    if (i % 2) mi_free(one);
  }
  return (int)(all % 200);
}
C
for way in PLAIN READS REMOVES; do
  gcc -g -O1 -fPIC -shared -D$way library.c -o libmenu.so
  gcc -g -O1 user.c -o user -L. -lmenu -Wl,-rpath,"$PWD"
  expect_status 196 "$HEAPPROF_BIN" run -o profile.json -- ./user
  expect_said err.txt "libmenu.so: its functions do not behave as an allocator's do"
  expect_eq "peak below 1 MiB ($way)" "$(json profile.json '.heapprof.devices[0].totals.peak_bytes < 1048576')" true
  expect_eq "hooks that failed their test ($way)" "$(json profile.json '.heapprof.coverage.self_test_failures | length')" 0
  [ -f kept ] || fail "trying a function of a library removed a file"
done

# An allocator that serves small blocks itself and asks malloc for larger ones is left to malloc: no block counts twice,
# be it in the executable or in a library, by names of its own or as malloc and free.
cat >pool.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
static char pool[8 << 20] __attribute__((aligned(64)));
static size_t used;
static int is_of_pool(void* block) { return (char*)block >= pool && (char*)block < pool + sizeof pool; }
static void* take(size_t size) {
  char* block = pool + used + 16;
  memcpy(pool + used, &size, sizeof size);
  used += 16 + (size + 31) / 32 * 32;
  return block;
}
#ifdef OWN_MALLOC
#define GIVE malloc
#define TAKE free
static void* larger(size_t size) { return ((void* (*)(size_t))dlsym(RTLD_NEXT, "malloc"))(size); }
static void give_back(void* block) { ((void (*)(void*))dlsym(RTLD_NEXT, "free"))(block); }
#else
#include <stdlib.h>
#define GIVE mi_malloc
#define TAKE mi_free
#define larger malloc
#define give_back free
#endif
__attribute__((noipa)) void* GIVE(size_t size) { return size > 2000 ? larger(size) : take(size); }
__attribute__((noipa)) void TAKE(void* block) {
  if (block != NULL && !is_of_pool(block)) give_back(block);
}
#ifdef OWN_MALLOC
void* calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void* realloc(void* block, size_t size) {
  void* fresh = malloc(size);
  size_t old = size;
  if (block != NULL && is_of_pool(block)) memcpy(&old, (char*)block - 16, sizeof old);
  if (block != NULL) memcpy(fresh, block, old < size ? old : size);
  free(block);
  return fresh;
}
#endif
#ifndef LIBRARY
static void* kept[200];
int main(void) {
  for (int i = 0; i < 200; ++i) kept[i] = GIVE(i % 2 ? 4099 : 64);
  for (int i = 100; i < 200; ++i) TAKE(kept[i]);
  return kept[5] != NULL ? 7 : 8;
}
#endif
C
sed '/^#ifndef LIBRARY/,$!d;/^#/d' pool.c >pool_main.c
sed -i '1i #include <stddef.h>\nvoid* mi_malloc(size_t size);\nvoid mi_free(void* block);\n#define GIVE mi_malloc\n#define TAKE mi_free' pool_main.c
for way in inside library own; do
  case $way in
    inside) gcc -g -O1 -D_GNU_SOURCE pool.c -o pooled ;;
    library) gcc -g -O1 -D_GNU_SOURCE -fPIC -shared -DLIBRARY pool.c -o libpool.so
      gcc -g -O1 pool_main.c -o pooled -L. -lpool -Wl,-rpath,"$PWD" ;;
    own) gcc -g -O1 -D_GNU_SOURCE -DOWN_MALLOC pool.c -o pooled ;;
  esac
  expect_status 7 ./pooled
  expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./pooled
  expect_eq "blocks of 4,099 bytes ($way)" "$(jq -c '[.pps[] | select(.tb % 4099 == 0 and .tb > 0)] | [map(.tbk), map(.eb)] | map(add)' profile.json)" \
    "[100,204950]"
  expect_eq "foreign frees ($way)" "$(json profile.json .heapprof.counters.foreign_frees_count)" 0
done
