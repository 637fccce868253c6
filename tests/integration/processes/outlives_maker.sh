# A process that shares its memory with its maker, and lives on when that has ended or has become another program, does
# not wait for heapprof, which has left its maker's books. The maker's profile is whole.
have cc || skip "cc is not installed"
cat >shares.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static char* volatile kept;
static int live_on(void* unused) {
  (void)unused;
  usleep(200000);
  for (int i = 0; i < 300000; i++) {
    void* volatile block = malloc(100);
    free(block);
  }
  write(1, "lived on\n", 9);
  return 0;
}
int main(int argc, char** argv) {
  (void)argc;
  char* const stack = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  kept = malloc(4321);
  if (clone(live_on, stack + (1 << 20), CLONE_VM | SIGCHLD, 0) < 0) return 1;
  if (strcmp(argv[1], "exec") == 0) execl("/bin/true", "true", (char*)0);
  syscall(SYS_exit_group, 0);
}
C
cc -O1 -w -o shares shares.c
for how in exit exec; do
  # `cat` ends when the child has. Without a reader of its ring it waits for --stall-timeout, which is longer than this.
  said=$(timeout 300 bash -c '"$0" run -q --stall-timeout 900 -o p%p.json -- ./shares "$1" | cat' "$HEAPPROF_BIN" $how) ||
    fail "$how: it waits"
  expect_eq "$how: what it says" "$said" "lived on"
  maker=
  for file in p[0-9]*.json; do
    check_profile "$file"
    [ "$(json "$file" '[.heapprof.devices[0].totals.leaked_bytes >= 4321, .heapprof.run.complete] | tostring')" = "[true,true]" ] && maker=$file
  done
  [ -n "$maker" ] || fail "$how: the maker's profile lacks its block, or is not complete"
  rm -f p[0-9]*.json
done
