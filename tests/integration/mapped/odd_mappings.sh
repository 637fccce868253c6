# Programs that ask for pages, and for functions, in ways of their own: each runs as it does without us, and what it has
# is known.
cat >breaks.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  mmap((void*)0x10000000, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  char* before = sbrk(1 << 20);
  int refused = brk(NULL); /* libc says done; the break stays */
  char* now = sbrk(0);
  void* lower = sbrk(-(now - (char*)0x8000000)); /* as does this */
  printf("%d %d %d\n", refused, lower != NULL, (char*)sbrk(0) == before + (1 << 20));
  void* kept = malloc(12345);
  return kept == NULL || mmap(0, 4 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}
C
gcc -O0 -g breaks.c -o breaks
./breaks >plain.txt
profile ./breaks
expect_eq "exit status" "$status" 0
expect_complete
cmp plain.txt out.txt || fail "the program's output changed: $(cat out.txt)"
mapped() { jq -r '.heapprof.devices[] | select(.name == "mapped") | .totals | "\(.leaked_bytes) \(.leaked_count)"' profile.json; }
expect_eq "mapped pages left" "$(mapped)" "$((6 << 20)) 3"
expect_eq "heap left" "$(json profile.json '.heapprof.devices[0].totals.leaked_bytes >= 12345')" true

# Room for code is no memory, but what was memory stays it: of 64 MiB of addresses, and of a page.
cat >code.c <<'C'
#define _GNU_SOURCE
#include <sys/mman.h>
int main(void) {
  int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  void* room = mmap(0, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mprotect(room, 64 << 20, all) != 0 || mprotect(page, 4096, all) != 0) return 1;
  return mprotect((char*)room + 4096, 8192, PROT_READ | PROT_WRITE) != 0;
}
C
gcc -O0 -g code.c -o code
profile ./code
expect_eq "exit status" "$status" 0
expect_eq "mapped pages left of a program with room for code" "$(mapped)" "12288 2"
expect_eq "addresses left" "$(jq '.heapprof.devices[] | select(.name == "mapped:reserved").totals.leaked_bytes' profile.json)" $(((64 << 20) - 8192))

# A library that defines one of mmap and mmap64 by the other, or only the second.
printf '#define _GNU_SOURCE\n#include <sys/mman.h>\nvoid* mmap(void* a, size_t n, int p, int f, int d, off_t o) { return mmap64(a, n, p, f, d, o); }\n' >one.c
printf '#define _GNU_SOURCE\n#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nvoid* mmap64(void* a, size_t n, int p, int f, int d, off_t o) { if (write(1, "own\\n", 4) != 4) _exit(9); return (void*)syscall(SYS_mmap, a, n, p, f, d, o); }\n' >two.c
printf '#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/mman.h>\nint main(void) { int flags = MAP_PRIVATE | MAP_ANONYMOUS; return mmap(0, 4096, 3, flags, -1, 0) == MAP_FAILED || mmap64(0, 8192, 3, flags, -1, 0) == MAP_FAILED; }\n' >use.c
for name in one two; do
  gcc -O1 -shared -fPIC $name.c -o lib$name.so
  gcc -O1 use.c -o use_$name -L. -l$name -Wl,--no-as-needed -Wl,-rpath,"$PWD"
  ./use_$name >plain.txt || fail "use_$name without heapprof: $?"
  profile ./use_$name
  expect_eq "exit status of use_$name" "$status" 0
  expect_complete
  cmp plain.txt out.txt || fail "the output of use_$name changed: $(cat out.txt)"
  jq -e '.heapprof.devices[] | select(.name == "mapped") | .totals.leaked_bytes >= 12288' profile.json >/dev/null || fail "pages of use_$name"
done

# A sanitizer that is linked statically asks dlsym for what libc has before its own functions work.
printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { free(malloc(77)); puts("ran"); return 3; }\n' >plain.c
if gcc -fsanitize=address -static-libasan plain.c -o own_asan 2>/dev/null; then
  profile ./own_asan
  expect_eq "exit status under a sanitizer of its own" "$status" 3
  expect_eq "output" "$(cat out.txt)" ran
fi

# --limit host: a block that no hook saw is freed; a fork beside a realloc.
cat >limited.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void* __libc_malloc(size_t);
static volatile int is_over;
static void* resize(void* block) {
  while (!is_over) {
    block = realloc(block, 12 << 20);
    block = realloc(block, 1000);
  }
  return block;
}
int main(void) {
  free(__libc_malloc(1000));
  if (malloc(16) == NULL) return 1;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, resize, malloc(1000));
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(malloc(44 << 20) == NULL);
    int state;
    waitpid(child, &state, 0);
    refused += state != 0;
  }
  is_over = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return refused;
}
C
gcc -O1 limited.c -o limited -pthread
status=0
"$HEAPPROF_BIN" run --limit host=100MiB -o profile.json -- ./limited >out.txt 2>err.txt || status=$?
expect_eq "children that did not get what there was" "$status" 0

# More bytes of addresses than 2^64 in all: sums stop there, and say so; the profile is believed, and may be merged.
cat >much.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(int count, char** arguments) {
  size_t size = 1ul << 46; /* 262,144 times are 2^64 */
  for (long left = count > 1 ? atol(arguments[1]) : 0; left > 0; --left) {
    void* start = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED || munmap(start, size) != 0) return 1;
  }
  return 0;
}
C
gcc -O0 -g much.c -o much
"$HEAPPROF_BIN" run -q -o much.json -- ./much 262200
cp much.json copy.json
"$HEAPPROF_BIN" merge -o both.json much.json copy.json >merge.txt 2>&1 || fail "two profiles are not merged: $(cat merge.txt)"
for file in much.json both.json; do
  "$HEAPPROF_BIN" report --device mapped:reserved $file >much.txt 2>&1 || fail "report refuses $file: $(cat much.txt)"
  expect_in much.txt "more than 16.0 EiB"
done
check_profile much.json both.json
