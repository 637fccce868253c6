# An allocator inside of the executable is hooked in place: its blocks count once and to the byte, whatever it is
# called, however it was compiled, across threads, fork, exec and kills. Where that cannot be done, the program runs
# unharmed and the summary says so.
for tool in g++ objcopy; do have $tool || skip "$tool is not installed"; done
target=$SOURCE/tests/targets/malloc/allocators/inner.cc
archive_of() { g++ -print-file-name="lib$1.a"; }
libraries="-lpthread -ldl -lm"

# expect_books FACTOR [FILE]: what use_all() allocated, as often
expect_books() {
  local n=$1 file=${2:-profile.json}
  expect_sum '^\(anonymous namespace\)::use_inner|^use_inner' "$((12350 * n)) $((10 * n)) $((6175 * n)) $((5 * n))" "$file"
  expect_sum '^\(anonymous namespace\)::use_growing|^use_growing' "$((5904900 * n)) $((11 * n)) 0 0" "$file"
  expect_sum '^\(anonymous namespace\)::use_aligned|^use_aligned' "$((12390 * n)) $((10 * n)) $((6195 * n)) $((5 * n))" "$file"
  expect_sum '^\(anonymous namespace\)::use_new|^use_new' "$((12370 * n)) $((10 * n)) $((6185 * n)) $((5 * n))" "$file"
  expect_sum '^\(anonymous namespace\)::use_outer|^use_outer' "$((60 * n)) $((10 * n)) $((30 * n)) $((5 * n))" "$file"
}
# expect_inner TEXT: which allocators were hooked
expect_inner() { expect_eq "allocators that were hooked" "$(json profile.json '.heapprof.coverage.inner_allocators | join(", ")')" "$1"; }
inner_functions() { json profile.json '.heapprof.coverage.inner_allocators[0]'; }

tried=0
for allocator in jemalloc tcmalloc_minimal; do
  archive=$(archive_of $allocator)
  [ -f "$archive" ] || { not_tried "lib$allocator.a is not installed: apt-get install libjemalloc-dev libgoogle-perftools-dev"; continue; }
  tried=$((tried + 1))

  # Random work against the program's own books, on one thread and on eight.
  for parameters in "101 1 20000 free" "110 8 40000 free" "103 2 20000 barrier"; do
    read -r seed threads operations mode <<<"$parameters"
    "$HEAPPROF_BIN" run -q -o rest.json -- "$TARGETS/oracle_in_$allocator" $seed $threads 0 $mode rest_books.json 256 a || fail "oracle without work"
    "$HEAPPROF_BIN" run -q --all-sites -o profile.json -- "$TARGETS/oracle_in_$allocator" $seed $threads $operations $mode books.json 256 a || fail "oracle $seed"
    check_profile profile.json
    "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" books.json profile.json --rest rest.json --quiet || fail "$allocator: the profile is not true"
  done

  g++ -g -O1 -fno-builtin "$target" -c -o inner.o
  g++ inner.o "$archive" $libraries -o inner
  profile ./inner
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_books 1
  case $allocator in
    jemalloc) expect_inner "jemalloc: 33 functions" ;;
    *) expect_inner "tcmalloc: 18 functions" ;;
  esac
  profile ./inner threads
  expect_complete
  expect_books 800
  profile ./inner kill
  expect_eq "exit status" "$status" 137
  expect_books 1
  # A child is hooked as its parent is; a program that comes by exec is looked at anew.
  "$HEAPPROF_BIN" run -q -o 'fork.%p.json' -- ./inner fork || fail "fork"
  for file in fork.*.json; do
    check_profile "$file"
    expect_complete "$file"
    expect_books 1 "$file"
  done
  expect_eq "processes" "$(find . -name 'fork.*.json' | wc -l)" 2
  rm fork.*.json
  "$HEAPPROF_BIN" run -q -o 'exec.%p.json' -- ./inner exec || fail "exec"
  [ "$(find . -name 'exec.*.json' | wc -l)" -ge 1 ] || fail "no profile after exec"
  for file in exec.*.json; do expect_books 1 "$file"; done
  rm exec.*.json
  # A new_handler that allocates, frees and throws inside of operator new is the program, not the allocator.
  profile ./inner throw
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_sum '^\(anonymous namespace\)::use_inner|^use_inner' "12350 10 6175 5"
  expect_eq "live at exit of use_throw" "$(sum '^\(anonymous namespace\)::(use_throw|give_reserve)|^use_throw|^give_reserve' | cut -d' ' -f3-)" "0 0"

  # Stripped: what libraries ask for has its name still.
  strip -o stripped inner
  profile ./stripped
  expect_eq "exit status of the stripped program" "$status" 0
  expect_eq "frees of blocks never seen" "$(counter foreign_frees_count)" 0
  [ "$(json profile.json '.heapprof.counters.allocations_count')" -ge 51 ] || fail "stripped: $(json profile.json .heapprof.counters)"
  # Without being hooked it runs as it does, and that is said.
  expect_status 125 "$HEAPPROF_BIN" run -o left.json --no-inner-allocators -- ./inner
  expect_in err.txt "[HP013]"
  expect_in err.txt "[HP310]"
done
[ $tried -gt 0 ] || skip "no allocator is installed as an archive"

# ---- Names with a prefix, beside libc's malloc ----
archive=$(archive_of jemalloc)
if [ -f "$archive" ]; then
  cp "$archive" prefixed.a
  ar d prefixed.a jemalloc_cpp.o
  nm "$archive" 2>/dev/null | awk '$2 ~ /^[TW]$/ && $3 !~ /^(je_|_Z)/ { print $3, "_rjem_" $3 }' | sort -u >names.txt
  objcopy --redefine-syms=names.txt prefixed.a
  for flags in "-O0 -fcf-protection=full" "-O2 -fcf-protection=none -no-pie" "-O2 -Wl,-z,now,-z,separate-code"; do
    g++ -g -fno-builtin $flags -DPREFIX=_rjem_ "$target" -o prefixed prefixed.a $libraries
    profile ./prefixed
    expect_eq "exit status ($flags)" "$status" 0
    expect_complete
    expect_books 1
    expect_inner "jemalloc: $(inner_functions | grep -oE '[0-9]+ functions')"
    # Pages that it maps for itself are not the program's.
    expect_eq "mapped" "$(json profile.json '[.heapprof.devices[] | select(.name == "mapped") | .totals.peak_bytes] | add // 0')" 0
  done
  # A Rust program's global allocator is one of these.
  if have rustc && rustc --version >/dev/null 2>&1; then
    rustc -g -C opt-level=2 -o rust "$SOURCE/tests/targets/malloc/rust/inner.rs" -C link-arg=prefixed.a -C link-arg=-lm 2>rustc.txt ||
      { cat rustc.txt; fail "rustc refused the program"; }
    profile ./rust
    expect_eq "exit status of the Rust program" "$status" 0
    expect_complete
    expect_sum '^(inner|rust)::leak_pages' "3705 3 3705 3"
    expect_sum '^(inner|rust)::leak_lines' "3648 3 3648 3"
    expect_sum '^(inner|rust)::fill_numbers' "12400 5 0 0"
  else
    not_tried "rustc is not installed"
  fi
fi

# ---- Allocators that are not hooked ----
cat >own.c <<'C'
// An allocator of the program's own, on top of libc's, or of pages.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#ifdef WRAPS  // je_malloc is malloc by another name
void* je_malloc(size_t n) { return malloc(n); }
void* je_calloc(size_t m, size_t n) { return calloc(m, n); }
void* je_realloc(void* p, size_t n) { return realloc(p, n); }
void je_free(void* p) { free(p); }
#define TAKE je_malloc
#define GIVE je_free
#elif defined NEXT  // malloc hands on to the next one, as debugging wrappers do
static void* (*next_malloc)(size_t);
static void (*next_free)(void*);
void* malloc(size_t n) {
  if (!next_malloc) next_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return next_malloc(n);
}
void free(void* p) {
  if (!next_free) next_free = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  next_free(p);
}
#define TAKE malloc
#define GIVE free
#else  // of one pool; its free calls something before anything else
static _Alignas(16) char pool[1 << 20];
static size_t used;
#define WHOLE __attribute__((noipa))
WHOLE void* malloc(size_t n) { void* p = pool + used; used += (n + 31) & ~15ul; *(size_t*)p = n; return (char*)p + 16; }
WHOLE void* calloc(size_t m, size_t n) { return memset(malloc(m * n), 0, m * n); }
WHOLE void* realloc(void* p, size_t n) { void* q = malloc(n); if (p) memcpy(q, p, ((size_t*)p)[-2] < n ? ((size_t*)p)[-2] : n); return q; }
int freed;
__attribute__((noinline)) void note(void) { ++freed; }
#ifdef HOSTILE
__asm__(".text\n.globl free\n.type free, @function\nfree:\n jrcxz 1f\n pushq %rbx\n call note\n popq %rbx\n1:\n ret\n.size free, . - free\n");
#elif defined CALLS
__asm__(".text\n.globl free\n.type free, @function\nfree:\n pushq %rbx\n call note\n popq %rbx\n ret\n.size free, . - free\n");
#else
WHOLE void free(void* p) { if (p) note(); }
#endif
#define TAKE malloc
#define GIVE free
#endif
__attribute__((noinline)) void use_own(void) {
  for (int i = 0; i < 10; ++i) {
    void* volatile p = TAKE(1235);
    if (i % 2) GIVE(p);
  }
}
#if !defined WRAPS && !defined NEXT
__attribute__((noinline)) void use_array(void) { free(reallocarray(reallocarray(NULL, 3, 400), 7, 500)); }
#else
void use_array(void) {}
#endif
int main(void) { use_own(); use_array(); return 7; }
C
for way in "-DWRAPS -O0" "-DWRAPS -O2" -DNEXT; do
  gcc -g -fno-builtin $way own.c -o own -ldl
  profile ./own
  expect_eq "exit status ($way)" "$status" 7
  expect_eq "frees of blocks never seen ($way)" "$(counter foreign_frees_count)" 0
  expect_eq "leaks ($way)" "$(json profile.json '[.heapprof.devices[0].totals | .total_bytes, .leaked_bytes] | join(" ")')" "12350 6175"
  expect_not_in err.txt HP310
done
# One of the program's own is hooked as any other, also where a function begins with a call; libc's reallocarray, which
# is emulated, asks the program's realloc.
for way in "-O0 -no-pie" -O1 "-O2 -DCALLS"; do
  gcc -g -fno-builtin $way own.c -o own -ldl
  profile ./own
  expect_eq "exit status ($way)" "$status" 7
  expect_complete
  expect_sum '^use_own' "12350 10 6175 5"
  expect_sum '^use_array' "4700 2 0 0"
  expect_not_in err.txt HP310
done
# One whose code cannot be moved is left alone as a whole, and named.
gcc -g -O1 -fno-builtin -DHOSTILE own.c -o own -ldl
profile ./own
expect_eq "exit status" "$status" 7
expect_in err.txt "[HP310]"
expect_said err.txt "free loops in its first bytes"

# Threads that a library starts before the agent does: code is not changed under them.
cat >threads.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void* wait_for_ever(void* nothing) { for (;;) pause(); return nothing; }
__attribute__((constructor)) static void start(void) { pthread_t thread; pthread_create(&thread, NULL, wait_for_ever, NULL); }
void need_threads(void) {}
C
gcc -shared -fPIC threads.c -o libthreads.so -lpthread
gcc -g -O1 -fno-builtin own.c -o own -Wl,--no-as-needed -L. -lthreads -Wl,-rpath,"$PWD" -ldl
profile ./own
expect_eq "exit status among threads" "$status" 7
expect_said err.txt "more than one thread before the agent started"

# A system that lets nobody have pages that are written to and executed: a filter around heapprof itself.
cat >without_wx.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 99;
  execv(argv[1], argv + 1);
  return 98;
}
C
gcc without_wx.c -o without_wx
gcc -g -O1 -fno-builtin own.c -o own -ldl
expect_status 7 ./without_wx "$HEAPPROF_BIN" run -o profile.json -- ./own
expect_said err.txt "the system forbids changing code"
expect_eq "allocations of a program that was left alone" "$(counter allocations_count)" 0
