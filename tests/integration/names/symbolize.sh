# A profile that was written without names gets them later from debug files put aside: then it says what the profile of
# the same program says that had its names from the start.
cat >plugin.cc <<'C'
#include <stdlib.h>
#include <vector>
static inline __attribute__((always_inline)) void* inner(size_t size) { return malloc(size); }
static __attribute__((noinline)) void* hidden(size_t size) { void* block = inner(size); __asm__ volatile("" : "+r"(block)); return block; }
extern "C" __attribute__((noinline)) void* plugin_call(size_t size) { void* block = hidden(size); __asm__ volatile("" : "+r"(block)); return block; }
C
cat >program.cc <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <vector>
static std::vector<int>* kept;
static __attribute__((noinline)) void grow(int count) { for (int i = 0; i < count; ++i) kept->push_back(i); }
static __attribute__((noinline)) void* work(void*) { void* block = malloc(1235); __asm__ volatile("" : "+r"(block)); return block; }
int main(int, char** argv) {
  kept = new std::vector<int>();
  grow(1000);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_join(thread, nullptr);
  }
  for (int round = 0; round < 2; ++round) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* (*call)(size_t) = reinterpret_cast<void* (*)(size_t)>(dlsym(plugin, "plugin_call"));
    for (int i = 0; i < 3; ++i) call(1237);
    free(call(1239));
    dlclose(plugin);
  }
  return 0;
}
C
compiler=$(command -v g++ || command -v c++) || skip "no compiler"
$compiler -O2 -g -fPIC -shared -Wl,--build-id -o plugin.so plugin.cc

# What a run decides apart from the names: numbers, stacks, frames, modules.
decided() {
  jq -S '{ftbl, pps: [.pps[] | {tb, tbk, mb, mbk, gb, gbk, eb, ebk, fs}], frames: .heapprof.frames, modules: .heapprof.modules,
    devices: [.heapprof.devices[] | {name, totals: (.totals | {total_bytes, total_count, peak_bytes, peak_count, leaked_bytes}),
      sites: (.sites | del(.lifetime_ns, .first_leak_ns, .last_leak_ns, .sampled, .live_bytes, .stayed, .stays))}]}' "$1"
}
# What must not change: everything but the names.
unnamed() { jq -S 'del(.ftbl, .pps[].fs, .heapprof.frames) | .pps |= sort | .heapprof.devices[] |= del(.pps[]?.fs)' "$1"; }

for flags in "-pie" "-no-pie" "-no-pie -O0"; do
  name=program${flags//[^a-zA-Z0-9]/_}
  $compiler -O2 -g -Wl,--build-id $flags -pthread -o "$name" program.cc
  cp plugin.so lib.so
  "$HEAPPROF_BIN" run -q -o named.json -- ./"$name" "$PWD/lib.so" || fail "$name fails"
  rm -rf symbols && mkdir -p symbols/deep
  objcopy --only-keep-debug "$name" symbols/deep/anything.dbg
  cp plugin.so symbols/original.so
  strip -s "$name"
  strip -s lib.so
  "$HEAPPROF_BIN" run -q -o bare.json -- ./"$name" "$PWD/lib.so" || fail "$name fails"
  cp bare.json before.json
  jq -r '.ftbl[]' bare.json | grep -qF '???' || fail "$flags: the stripped program has names"

  # On another machine: the modules' own files are not there, or are other ones of these names.
  for where in here gone other; do
    cp before.json bare.json
    case $where in
      gone) mv "$name" "$name.away" && mv lib.so lib.so.away ;;
      other) cp "$TARGETS/leaky" "$name" && cp "$TARGETS/plugin_alpha.so" lib.so ;;
    esac
    expect_status 0 "$HEAPPROF_BIN" symbolize -q --debug-dir symbols bare.json
    check_profile bare.json
    decided named.json >want.txt
    decided bare.json >got.txt
    diff want.txt got.txt >differs.txt || fail "$flags, $where: $(head -20 differs.txt)"
    cmp <(unnamed before.json) <(unnamed bare.json) || fail "$flags, $where: more than names changed"
    # Twice is once, to the byte; and then nothing is written.
    cp bare.json once.json
    touch -d 2001-01-01 bare.json
    expect_status 0 "$HEAPPROF_BIN" symbolize -q --debug-dir symbols bare.json
    cmp bare.json once.json || fail "$flags, $where: the second time something changes"
    expect_eq "time of the file" "$(stat -c %Y bare.json)" "$(date -d 2001-01-01 +%s)"
    expect_status 0 "$HEAPPROF_BIN" symbolize -q --debug-dir symbols -o again.json bare.json
    cmp again.json once.json || fail "$flags, $where: -o writes something else"
  done
  mv "$name.away" "$name"
  mv lib.so.away lib.so
done

# Half of the names, then the rest: the order does not matter.
mkdir first second
cp symbols/original.so first/
cp symbols/deep/anything.dbg second/
cp before.json parts.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir first parts.json
expect_in err.txt "left   $name: "
expect_in err.txt "saved  parts.json"
expect_status 0 "$HEAPPROF_BIN" symbolize -q --debug-dir second parts.json
cmp parts.json once.json || fail "names found in two steps differ from those found in one"
cp before.json both.json
expect_status 0 "$HEAPPROF_BIN" symbolize -q --debug-dir first --debug-dir second/anything.dbg both.json
cmp both.json once.json || fail "two folders give other names than one"
