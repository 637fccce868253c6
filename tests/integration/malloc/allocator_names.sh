# What a program asks its allocator for by the allocator's own names (__libc_malloc, mallocx, tc_new, mi_heap_malloc …)
# is counted, once and to the byte; and a name that is not there without us is not there with us.
command -v g++ >/dev/null || skip "g++ is not installed"
source_file=$SOURCE/tests/targets/malloc/allocators/names.cc

# check_books NAME LIBRARY…: the program, linked with the libraries
check_books() {
  local name=$1
  shift
  g++ -g -O1 -fno-builtin $flags "$source_file" -o "$name" -Wl,--no-as-needed "$@"
  profile "./$name"
  expect_eq "exit status of $name" "$status" 0
  expect_complete
  [ -s out.txt ] || fail "$name called nothing"
  "$PYTHON" "$SOURCE/tests/support/sites.py" profile.json books out.txt >books.txt
  diff out.txt books.txt >&2 || fail "the books (<) of $name are not those of the profile (>)"
  ./"$name" --found >plain.txt
  "$HEAPPROF_BIN" run -q -o found.json -- ./"$name" --found >profiled.txt
  diff plain.txt profiled.txt >&2 || fail "$name finds other names with us"
  # What a name leads to is the same function, by a reference and by dlsym; a library that is loaded later finds it too.
  ! grep -q "two addresses" profiled.txt || fail "$name has two of one function"
}
for flags in "" "-no-pie -Wl,-z,now" "-Wl,-z,lazy,-z,norelro"; do
  check_books none
  libraries="libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2"
  [ -z "$flags" ] || libraries=libjemalloc.so.2
  for library in $libraries; do
    path=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
    [ -n "$path" ] || { not_tried "$library is not installed"; continue; }
    check_books "with_${library%%.*}" "$path"
  done
done

# A library with a malloc of its own on top of glibc's other names, called as it is, by a jump, or with a header of its
# own in front of each block: what the program asked for counts, once.
cat >on_top.c <<'C'
#include <errno.h>
#include <stddef.h>
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
#ifdef HEADER
void* malloc(size_t n) { char* p = __libc_malloc(n + HEADER); return p ? p + HEADER : p; }
void* calloc(size_t m, size_t n) { char* p = __libc_calloc(1, m * n + HEADER); return p ? p + HEADER : p; }
void* realloc(void* o, size_t n) { char* p = __libc_realloc(o ? (char*)o - HEADER : o, n + HEADER); return p ? p + HEADER : p; }
void free(void* p) { if (p) __libc_free((char*)p - HEADER); }
static void* aligned(size_t a, size_t n) { char* p = __libc_memalign(a, n + HEADER); return p ? p + HEADER : p; }
#else
void* malloc(size_t n) { return __libc_malloc(n); }
void* calloc(size_t m, size_t n) { return __libc_calloc(m, n); }
void* realloc(void* o, size_t n) { return __libc_realloc(o, n); }
void free(void* p) { __libc_free(p); }
static void* aligned(size_t a, size_t n) { return __libc_memalign(a, n); }
#endif
void* memalign(size_t a, size_t n) { return aligned(a, n); }
void* aligned_alloc(size_t a, size_t n) { return aligned(a, n); }
void* valloc(size_t n) { return aligned(4096, n); }
void* pvalloc(size_t n) { return aligned(4096, n); }
int posix_memalign(void** o, size_t a, size_t n) { void* p = aligned(a, n); if (!p) return ENOMEM; *o = p; return 0; }
C
g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/mixed.cc" -o mixed
for flags in -O0 -O2 "-O2 -fno-plt" "-O1 -DHEADER=64"; do
  gcc $flags -fPIC -shared -fno-builtin on_top.c -o on_top.so
  LD_PRELOAD=$PWD/on_top.so "$HEAPPROF_BIN" run -q -o on_top.json -- ./mixed || fail "with a malloc on top ($flags)"
  check_profile on_top.json
  expect_eq "the allocator" "$(basename "$(json on_top.json .heapprof.coverage.allocator)")" on_top.so
  expect_sum '^use_malloc' "12350 10 6175 5" on_top.json
  expect_sum '^use_new' "12370 10 6185 5" on_top.json
  expect_sum '^use_aligned' "12390 10 6195 5" on_top.json
done

# A plugin that is loaded later finds the hooks, too, by a reference and by dlsym.
path=$(ldconfig -p | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
[ -n "$path" ] || { not_tried "libjemalloc.so.2 is not installed"; exit 0; }
cat >plugin.c <<'C'
#include <stddef.h>
void* mallocx(size_t, int) __attribute__((weak));
void sdallocx(void*, size_t, int) __attribute__((weak));
int use_plugin(void) {
  for (int i = 0; mallocx && i < 10; ++i) {
    void* p = mallocx(1237, 0);
    if (i % 2) sdallocx(p, 1237, 0);
  }
  return mallocx != NULL;
}
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
__attribute__((noinline)) int use_dlsym(void) {
  void* (*allocate)(size_t, int) = (void* (*)(size_t, int))dlsym(RTLD_DEFAULT, "mallocx");
  void (*release)(void*, int) = (void (*)(void*, int))dlsym(RTLD_DEFAULT, "dallocx");
  for (int i = 0; allocate && i < 10; ++i) {
    void* p = allocate(1239, 0);
    if (i % 2) release(p, 0);
  }
  return allocate != NULL;
}
int main(void) {
  int (*use)(void) = (int (*)(void))dlsym(dlopen("./plugin.so", RTLD_LAZY), "use_plugin");
  return use() + 2 * use_dlsym();
}
C
gcc -g -O1 -fno-builtin -fPIC -shared plugin.c -o plugin.so
gcc -g -O1 -fno-builtin loads.c -o loads -Wl,--no-as-needed "$path"
profile ./loads
expect_eq "exit status" "$status" 3
expect_complete
expect_sum '^use_plugin' "12370 10 6185 5"
expect_sum '^use_dlsym' "12390 10 6195 5"
gcc -g -O1 -fno-builtin loads.c -o loads_none
profile ./loads_none
expect_eq "exit status without jemalloc" "$status" 0
