# A library with an allocator of its own, hidden inside it, is named: by its symbols, or by its texts where it was
# stripped. One that maps pages and has none is not.
have gcc || skip "gcc is not installed"
cat >own.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#ifdef SEEN
#define HIDDEN __attribute__((visibility(SEEN), noinline))
#else
#define HIDDEN __attribute__((visibility("hidden"), noinline))
#endif
#ifdef NAME
HIDDEN void* NAME(unsigned long bytes) {
#else
static __attribute__((noinline)) void* get_pages(unsigned long bytes) {
#endif
  void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef TEXT
  if (pages == MAP_FAILED) fputs(TEXT "out of memory\n", stderr);
#endif
  return pages;
}
#ifndef NAME
#define NAME get_pages
#endif
int use_own(void) {
  char* pages = NAME(8 << 20);
  memset(pages, 1, 8 << 20);
  return pages[123];
}
C
cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* library = dlopen("./libown.so", RTLD_NOW);
  int (*use)(void) = library ? (int (*)(void))dlsym(library, "use_own") : 0;
  return use ? 6 + use() : 1;
}
C
gcc -g user.c -o user -ldl
said() { grep -c 'HP040' err.txt || true; }
for way in "-DNAME=je_mallocx" "-DNAME=pond_je_mallocx" "-DNAME=mi_malloc"; do
  gcc -g -O1 -fPIC -shared $way own.c -o libown.so
  expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./user
  expect_in err.txt "[HP040]"
  expect_said err.txt "libown.so (its own allocator, by ${way#-DNAME=}: it mapped 8.00 MiB)"
done
# A malloc of the library's own: named where its calls reach it, and not where they reach the program's.
for way in '-DSEEN="default" -Wl,-Bsymbolic' '-DSEEN="protected"' ''; do
  read -ra words <<<"$way"
  gcc -O1 -fno-builtin -fPIC -shared -DNAME=malloc "${words[@]}" own.c -o libown.so
  expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./user
  expect_said err.txt "libown.so (its own allocator, by malloc: it mapped 8.00 MiB)"
done
gcc -g -O1 -fno-builtin -fPIC -shared -DNAME=malloc '-DSEEN="default"' own.c -o libown.so
expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./user
expect_eq "times that HP040 is said of a malloc that is the program's" "$(said)" 0
gcc -O1 -fPIC -shared -s '-DTEXT="<jemalloc>: "' own.c -o libown.so
expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./user
expect_said err.txt "libown.so (its own allocator, by texts of jemalloc: it mapped 8.00 MiB)"
gcc -O1 -fPIC -shared -s own.c -o libown.so
expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./user
expect_eq "times that HP040 is said of a library without an allocator" "$(said)" 0
