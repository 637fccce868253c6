# A program of C, whose plugins bring operator new: their own, a library's, that of a C++ library that is linked into
# them. Each call reaches the one that it reaches without us, by the order in which the loader searches for the plugin.
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
/* ./host WORD…: opens plugins and calls their run(); "global:" with RTLD_GLOBAL, "close:" and closes them. */
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    int is_global = words[i][0] == 'g', is_closed = words[i][0] == 'c';
    void* plugin = dlopen(words[i] + (is_global ? 7 : is_closed ? 6 : 0), RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (plugin == NULL) return puts(dlerror()), 1;
    ((void (*)(void))dlsym(plugin, "run"))();
    fflush(stdout);
    if (is_closed) dlclose(plugin);
  }
  return 0;
}
C
# Before the source of a plugin with a pool.
cat >pool_operators <<'C'
#include <cstdio>
#include <cstdlib>
static char pool[1 << 16];
static size_t used;
static int news, deletes;
void* operator new(size_t size) { void* at = pool + used; used = (used + size + 31) & ~size_t{15}; ++news; return used < sizeof pool ? at : nullptr; }
void operator delete(void* at) noexcept { if (at < pool || at >= pool + sizeof pool) abort(); ++deletes; }
void operator delete(void* at, size_t) noexcept { operator delete(at); }
C
# bare: by malloc, and gives nullptr where C++ throws. No library of C++ comes with it.
cat >bare.cc <<'C'
#include <cstdio>
#include <cstdlib>
void* operator new(size_t size) { return malloc(size); }
void operator delete(void* at) noexcept { free(at); }
void operator delete(void* at, size_t) noexcept { free(at); }
extern "C" void run() { int* volatile number = new int(5); delete number; puts("bare"); }
C
cat >pool.cc <<'C'
extern "C" void run() {
  for (int i = 0; i < 3; ++i) { int* volatile number = new int(i); delete number; }
  printf("pool: news %d, deletes %d\n", news, deletes);
}
C
cat >user.cc <<'C'
#include <cstdio>
#include <new>
#include <string>
#include <vector>
volatile size_t too_much = size_t{1} << 60;
extern "C" void run() {
  try { char* volatile block = new char[too_much]; delete[] block; puts("no exception"); } catch (const std::bad_alloc&) { puts("bad_alloc"); }
  try { std::vector<std::string> words(1000, std::string(100, 'x')); words.reserve(words.size() * 2); puts("words"); } catch (const std::exception&) { puts("exception"); }
}
C
# outer: its pool serves the library that it needs, too, whose deleting destructor ends with a jump to operator delete.
printf 'struct Thing { virtual ~Thing(); int number = 7; }; Thing::~Thing() = default;\nThing* make_thing() { Thing* thing = new Thing; thing->number++; return thing; }\n' >inner.cc
cat >outer.cc <<'C'
struct Thing { virtual ~Thing(); int number; };
Thing* make_thing();
extern "C" void run() {
  Thing* volatile kept = make_thing();
  Thing* thing = kept;
  printf("outer: of its pool %d\n", reinterpret_cast<char*>(thing) >= pool && reinterpret_cast<char*>(thing) < pool + sizeof pool);
  delete thing;
  printf("outer: news %d, deletes %d\n", news, deletes);
}
C
gcc -O1 host.c -o host -ldl
flags="-g -O2 -fPIC -shared -std=c++17"
g++ $flags bare.cc -o bare.so -nodefaultlibs -lc -lgcc &
g++ $flags -include pool_operators pool.cc -o pool.so -nodefaultlibs -lc -lgcc &
g++ $flags user.cc -o user.so &
wait
g++ $flags -static-libstdc++ user.cc -o static.so -Wl,--export-dynamic &
g++ $flags inner.cc -o libinner.so &
wait
g++ $flags -include pool_operators outer.cc -o outer.so -L. -linner -Wl,-rpath,"$PWD"
cp pool.so pool2.so
tried=0
for words in "bare user" "static user" "user static" "bare pool user pool2" "global:bare pool" "pool global:bare pool2" "outer" "bare outer pool" \
  "close:bare user" "close:pool close:static user" "global:user bare pool"; do
  list=$(sed -E 's#([a-z]+:)?([a-z0-9]+)#\1./\2.so#g' <<<"$words")
  got=0
  # shellcheck disable=SC2086
  ./host $list >plain.txt 2>&1 || fail "$words: $? without us"
  # shellcheck disable=SC2086
  "$HEAPPROF_BIN" run -q -o profile.json -- ./host $list >out.txt 2>&1 || got=$?
  expect_eq "status of $words" $got 0
  cmp -s out.txt plain.txt || { diff plain.txt out.txt; fail "other operators with $words"; }
  check_profile profile.json
  tried=$((tried + 1))
done
[ "$tried" = 11 ] || fail "$tried lists were tried"
# What they call is recorded by malloc: of the last list's user a thousand texts, and none of the pool's blocks.
expect_eq "texts" "$(json profile.json '[.pps[] | select(.tb == 101000) | .tbk] | add')" 1000
# A weak reference that is tested, and others that are bound at their first call: all are ours, or none is.
cat >weak.c <<'C'
#include <stddef.h>
#include <stdio.h>
void* _Znwm(size_t size) __attribute__((weak));
void _ZdlPv(void* block) __attribute__((weak));
int main(void) {
  if (_Znwm != NULL) _ZdlPv(_Znwm(8));
  puts("as it should be");
  return 0;
}
C
for linker in bfd lld gold; do
  gcc -O1 weak.c -o weak -Wl,-z,lazy -fuse-ld=$linker 2>/dev/null || { not_tried "ld.$linker"; continue; }
  expect_status 0 "$HEAPPROF_BIN" run -q -o weak.json -- ./weak
  expect_eq "output" "$(cat out.txt)" "as it should be"
done
