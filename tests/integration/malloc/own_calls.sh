# An allocator in a library that calls itself by way of the loader's tables: each request of the program counts once,
# whichever of its functions it goes through; what the library allocates for itself counts. Preloaded, linked, attached.
cat >calls_itself.c <<'C'
/* Every function but one goes on to another by its name; small blocks and large ones; and one that asks libc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
static void* (*libc_memalign)(size_t, size_t);
static void (*libc_free)(void*);
static void* (*libc_realloc)(void*, size_t);
__attribute__((constructor)) static void look(void) {
  libc_memalign = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
  libc_free = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  libc_realloc = (void* (*)(void*, size_t))dlsym(RTLD_NEXT, "realloc");
}
void* memalign(size_t alignment, size_t size) {
  if (libc_memalign == NULL) look();
  return libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void* malloc(size_t size) { return aligned_alloc(16, size); }
void free(void* block) {
  if (libc_free == NULL) look();
  libc_free(block);
}
void* calloc(size_t count, size_t size) {
  if (size != 0 && count > (size_t)-1 / size) return errno = ENOMEM, NULL;
  void* block = malloc(count * size);
  return block == NULL ? NULL : memset(block, 0, count * size);
}
void* realloc(void* block, size_t size) {
  if (block == NULL) return malloc(size);
  if (size < 100000) return libc_realloc(block, size);
  void* fresh = malloc(size);
  if (fresh == NULL) return NULL;
  const size_t old = malloc_usable_size(block);
  memcpy(fresh, block, old < size ? old : size);
  free(block);
  return fresh;
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = aligned_alloc(alignment, size);
  return *out == NULL ? ENOMEM : 0;
}
/* operator new, new[], new(nothrow), and their deletes: small blocks are of a pool, large ones malloc's. */
static char pool[1 << 20];
static size_t pool_used;
void* _Znwm(size_t size) {
  if (size >= 256) return malloc(size);
  pool_used += (size + 15) / 16 * 16;
  return pool_used <= sizeof pool ? pool + pool_used - (size + 15) / 16 * 16 : malloc(size);
}
void* _Znam(size_t size) { return _Znwm(size); }
void* _ZnwmRKSt9nothrow_t(size_t size, void* tag) { return (void)tag, _Znwm(size); }
void _ZdlPv(void* block) {
  if ((char*)block < pool || (char*)block >= pool + sizeof pool) free(block);
}
void _ZdaPv(void* block) { _ZdlPv(block); }
void _ZdlPvRKSt9nothrow_t(void* block, void* tag) { (void)tag, _ZdaPv(block); }
/* What the library has for itself. */
void* own_copy(const char* text) {
  char* copy = malloc(strlen(text) + 1);
  return copy == NULL ? NULL : strcpy(copy, text);
}
C
cat >asks.c <<'C'
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void* own_copy(const char* text);
void *_Znwm(size_t), *_Znam(size_t), *_ZnwmRKSt9nothrow_t(size_t, void*);
void _ZdlPv(void*), _ZdaPv(void*), _ZdlPvRKSt9nothrow_t(void*, void*);
static void new_blocks(size_t size) {
  void* volatile blocks[3] = {_Znwm(size), _Znam(size + 1), _ZnwmRKSt9nothrow_t(size + 2, "")};
  _ZdlPv(blocks[0]);
  _ZdaPv(blocks[1]);
  _ZdlPvRKSt9nothrow_t(blocks[2], "");
}
static volatile sig_atomic_t is_told;
static void tell(int signal_number) { (void)signal_number, is_told = 1; }
int main(int count, char** words) {
  signal(SIGUSR1, tell);
  if (count > 1 && strcmp(words[1], "wait") == 0) {
    write(1, "x", 1);
    while (!is_told) usleep(1000);
  }
  void* blocks[9] = {0};
  for (int round = 0; round < 200; ++round) {
    blocks[0] = malloc(11);
    blocks[1] = calloc(3, 7);
    blocks[2] = calloc(1, 200000);
    blocks[3] = realloc(NULL, 31);
    blocks[3] = realloc(blocks[3], 41);
    blocks[3] = realloc(blocks[3], 300000);
    blocks[4] = memalign(64, 51);
    blocks[5] = aligned_alloc(64, 128);
    if (posix_memalign(&blocks[6], 64, 71) != 0) return 1;
    blocks[7] = own_copy("twelve chars");
    blocks[8] = malloc(150000);
    for (int i = 0; i < 9; ++i) free(blocks[i]);
    new_blocks(40);
    new_blocks(3000);
  }
  return 0;
}
C
flags="-O2 -g -fno-builtin"
gcc $flags -fPIC -shared calls_itself.c -o libcallsitself.so
gcc $flags -fPIC -fno-plt -shared calls_itself.c -o libnoplt.so
gcc $flags -fPIC -shared -Wl,-z,now,-z,relro calls_itself.c -o libbound.so
gcc $flags asks.c -L. -lcallsitself -Wl,-rpath,"$PWD" -o asks
# Of a round: 9 blocks begin, and one of them is resized twice; and 6 of operator new.
want="3400 131898600"
for library in libcallsitself.so libnoplt.so libbound.so; do
  LD_PRELOAD=$PWD/$library "$HEAPPROF_BIN" run -o "$library.json" -- ./asks 2>err.txt || { cat err.txt; fail "$library"; }
  check_profile "$library.json"
  expect_eq "$library" "$(json "$library.json" '.heapprof.devices[0].totals | "\(.total_count) \(.total_bytes) \(.leaked_bytes)"')" "$want 0"
  expect_not_in err.txt HP041
  expect_not_in err.txt HP116
done

# The hooks come later, and go: after that nothing leads to them, and it runs as without.
at_end() { kill -9 "$program" 2>/dev/null || true; }
is_attached() {
  grep -q libheapprof.so "/proc/$program/maps" && "$HEAPPROF_BIN" snapshot -q -o now.json "$program" 2>/dev/null
}
attach() {
  "$HEAPPROF_BIN" attach --no-summary -o attached.json "$program" >attach.txt 2>&1 &
  attached=$!
  (wait_for 60 "the attach" is_attached) || { cat attach.txt; fail "attach"; }
}
for library in libcallsitself.so libnoplt.so; do
  : >ready.txt
  LD_PRELOAD=$PWD/$library ./asks wait >ready.txt &
  program=$!
  wait_for 60 "the program" test -s ready.txt
  attach
  kill -INT $attached
  wait $attached || { cat attach.txt; fail "the attach ended with $?"; }
  expect_eq "words that lead into the agent" "$("$PYTHON" "$SOURCE/tests/support/pointers_into_agent.py" "$program")" 0
  attach
  kill -USR1 "$program"
  wait "$program" || fail "the program ended with $?"
  wait $attached || { cat attach.txt; fail "the second attach ended with $?"; }
  expect_eq "$library, attached" "$(json attached.json '.heapprof.devices[0].totals | "\(.total_count) \(.total_bytes) \(.leaked_bytes)"')" "$want 0"
done
