# A stack in pieces that lie apart (-fsplit-stack): each event is counted at once, however deep it is, and no memory
# between the pieces is given pages by us. The first piece lies too far from the main thread's stack to be believed:
# what called main is missing, and that is said.
cat >split.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
__attribute__((noinline)) int descend(int n) {
  char bytes[2000];
  memset(bytes, n, sizeof bytes);
  void* block = malloc(1235);
  int sum = n > 0 ? descend(n - 1) : 0;
  free(block);
  return sum + bytes[5];
}
int main(int argc, char** argv) {
  struct rusage use;
  int sum = argc > 1 ? descend(atoi(argv[1])) : 0;
  getrusage(RUSAGE_SELF, &use);
  printf("%ld\n", use.ru_maxrss);
  return sum == 0x12345;
}
END
gcc -g -fsplit-stack -fuse-ld=gold split.c -o split 2>gcc.txt || skip "no split stacks here: $(head -n 1 gcc.txt)"
plain_kib=$(./split 600)
profile ./split 600
expect_eq "exit status" "$status" 0
expect_eq "events lost" "$(counter lost_count)" 0
expect_in err.txt HP039
expect_sum '^descend' "742235 601 0 0"
kib=$(head -n 1 out.txt)
[ "$kib" -lt $((plain_kib + 32768)) ] || fail "$kib KiB resident, without us $plain_kib"
