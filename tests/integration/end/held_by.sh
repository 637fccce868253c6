# run --leak-check says what holds what is still reachable, to the byte: variables by name, in the program and in a
# library, what two of them lead to apart, threads' storage and stacks; summary, report, findings and JSON say it.
export COLUMNS=200
"$HEAPPROF_BIN" run --leak-check -o profile.json -- "$TARGETS/holds_by_variables" >out.txt 2>err.txt ||
  { cat err.txt; fail "a run"; }
check_profile profile.json
expect_complete
# held FILE: "KIND SHARED NAME BYTES BLOCKS" of each
held() { json "$1" '.heapprof.devices[0].held_by[] | "\(.kind) \(.is_shared) \(.names | join(",")) \(.held_bytes) \(.held_count)"'; }
held profile.json | grep -v libc >held.txt || true
expect_in held.txt "variable false store::g_rows 604800 300"
expect_in held.txt "variable false (anonymous namespace)::g_table 300800 101"
expect_in held.txt "thread-local false  70000 1"
expect_in held.txt "variable true (anonymous namespace)::g_one,(anonymous namespace)::g_other 50000 1"
expect_in held.txt "variable false (anonymous namespace)::keep_static()::kept 30000 1"
expect_in held.txt "stack false  20000 1"
expect_eq "the first one's module" "$(json profile.json '.heapprof.devices[0].held_by[0].module' | sed 's|.*/||')" holds_by_variables
expect_in err.txt "held by store::g_rows"
expect_status 0 "$HEAPPROF_BIN" report profile.json
expect_in out.txt "HELD AT EXIT BY host"
expect_in out.txt "g_table"
expect_in out.txt "g_one, g_other  "
expect_in out.txt "mostly get (holds_by_variables.cc:18)"
expect_status 0 "$HEAPPROF_BIN" report --format json profile.json
expect_eq "the report's first holder" "$(jq -r '.devices[0].held_by[0] | "\(.names[0]) \(.held_bytes) \(.blocks_of[0].function)"' out.txt)" \
  "store::g_rows 604800 (anonymous namespace)::get(unsigned long)"

# Without names a variable counts with its module; nothing holds what is lost.
cp "$TARGETS/holds_by_variables" stripped && strip stripped
"$HEAPPROF_BIN" run -q --leak-check -o stripped.json -- ./stripped || fail "a stripped program"
held stripped.json >held.txt
expect_in held.txt "variable false  985600 403"
expect_not_in held.txt "g_rows"

# In a sum holders of one name are one.
cp profile.json other.json
"$HEAPPROF_BIN" merge -o sum.json profile.json other.json || fail "merge"
held sum.json >held.txt
expect_in held.txt "variable false store::g_rows 1209600 600"

# A file that the program maps is no variable's; a local variable of a thread's first function is its stack's; a library
# that is loaded twice keeps its names.
cat >twice.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void* begin(void* end) {
  void* volatile local = memset(malloc(3001), 1, 3001);
  write(*(int*)end, "x", 1);
  for (;;) pause();
  return local;
}
int main(int count, char** words) {
  (void)count;
  int pipes[2];
  pthread_t thread;
  char byte;
  if (pipe(pipes) != 0 || pthread_create(&thread, NULL, begin, &pipes[1]) != 0 || read(pipes[0], &byte, 1) != 1) return 1;
  const int file = open("data.bin", O_RDWR | O_CREAT, 0600);
  if (ftruncate(file, 8192) != 0) return 2;
  void** page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  page[3] = malloc(5001);
  void* here = dlopen(words[1], RTLD_NOW);
  void* there = dlmopen(LM_ID_NEWLM, words[1], RTLD_NOW);
  if (here == NULL || there == NULL) return 3;
  *(void**)dlsym(here, "kept_here") = malloc(7001);
  exit(0);
}
C
echo 'void* kept_here; static int other[1000]; int* get(void) { return other; }' >kept.c
gcc -O1 -fPIC -shared kept.c -o libkept.so
gcc -O1 twice.c -o twice -pthread
"$HEAPPROF_BIN" run -q --leak-check -o twice.json -- ./twice ./libkept.so || fail "a library twice: $?"
held twice.json >held.txt
expect_in held.txt "stack false  3001 1"
expect_in held.txt "mapped false  5001 1"
expect_in held.txt "variable false kept_here 7001 1"

# Linkers map the first page of a file again in its data: names and judgement stay.
cat >small.c <<'C'
#include <stdlib.h>
void* kept;
int main(void) {
  kept = malloc(4001);
  exit(0);
}
C
for flags in -fuse-ld=lld -Wl,-z,noseparate-code -no-pie; do
  [ "$flags" != -fuse-ld=lld ] || have ld.lld || { not_tried "$flags: no lld" && continue; }
  gcc $flags small.c -o small
  "$HEAPPROF_BIN" run -q --leak-check -o small.json -- ./small || fail "$flags: $?"
  held small.json >held.txt
  expect_in held.txt "variable false kept 4001 1"
done

# Of a forked child, nothing of heapprof's is memory that could not be read.
cat >child.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  free(malloc(10));
  if (fork() == 0) {
    free(malloc(20));
    exit(0);
  }
  wait(NULL);
  return 0;
}
C
gcc child.c -o child
"$HEAPPROF_BIN" run -q --all-processes --leak-check -o child.json -- ./child || fail "a child"
for file in child*.json; do
  expect_eq "unread bytes of $file" "$(json "$file" '.heapprof.leak_check.unread_bytes')" 0
done

# Nothing is said without the check.
"$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/holds_by_variables" || fail "without the flag"
expect_eq "holders without a leak check" "$(json profile.json '.heapprof.devices[0].held_by')" null
