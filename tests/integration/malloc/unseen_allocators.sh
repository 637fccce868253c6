# What does not come through the hooks is said: blocks of elsewhere that are freed, and an allocator inside the program
# that has far more memory than the heap.
cat >past.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  void* (*past)(size_t) = (void* (*)(size_t))dlsym(dlopen("libc.so.6", RTLD_NOW), "malloc");  // libc's own
  (void)argv;
  for (int i = 0; i < 900; ++i) free(malloc(1235));
  for (int i = 0; i < (argc > 1 ? 100 : 5); ++i) free(past(1236));
  return 0;
}
C
gcc -O1 -fno-builtin past.c -o past -ldl || skip "gcc is not installed"
profile ./past often
expect_eq "frees of blocks never seen" "$(counter foreign_frees_count)" 100
expect_in err.txt "100 of 1,001 blocks began or ended unseen (10.0 %): part of the program allocates past the hooks [HP116]"
profile ./past
expect_not_in err.txt HP116

cat >inside.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char* at;
__attribute__((noinline)) void* NAME(size_t bytes) {
  if (at == NULL) at = mmap(NULL, 30 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memset(at += bytes, 1, bytes);
}
int main(int argc, char** argv) {
  (void)argv;
  void* volatile block = malloc(argc > 1 ? 20 << 20 : 1235);
  for (int i = 0; i < 20; ++i) NAME(1 << 20);
  free(block);
  return 0;
}
C
gcc -O1 -fno-builtin -DNAME=_rjem_malloc inside.c -o inside
profile ./inside
expect_in err.txt "allocations in inside (its own _rjem_malloc) bypass the hooks and are not in the profile [HP040]"
# Not where the heap is what counts, nor of any function that maps memory.
profile ./inside much
expect_not_in err.txt HP040
gcc -O1 -fno-builtin -DNAME=map_pages inside.c -o other
profile ./other
expect_not_in err.txt HP040
# A program that calls an allocator in a shared library has its name, too, and does not define it.
path=$(ldconfig -p | awk '$1 == "libmimalloc.so.2" { print $NF; exit }')
if [ -n "$path" ]; then
  cat >calls.c <<'C'
#include <stddef.h>
#include <sys/mman.h>
void* mi_malloc(size_t);
int main(void) {
  char* pages = mmap(NULL, 30 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mi_malloc(100) == NULL || pages[5] != 0;
}
C
  gcc -O1 calls.c -o calls "$path"
  profile ./calls
  expect_not_in err.txt HP040
else
  not_tried "libmimalloc.so.2 is not installed"
fi
