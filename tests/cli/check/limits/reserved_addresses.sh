# Addresses that a program reserves are no memory: growth of them is none.
cat >reserve.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
int main(int count, char** words) {
  (void)words;
  return mmap(0, (size_t)count << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}
C
gcc -O1 reserve.c -o reserve
expect_status 0 check --max-peak 1MiB -o reserve.json -- ./reserve
expect_eq "reserved" "$(jq '.heapprof.devices[] | select(.name == "mapped:reserved") | .totals.peak_bytes' reserve.json)" $((1 << 30))
expect_status 0 check --baseline reserve.json -- ./reserve twice as much
