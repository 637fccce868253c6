# --update-baseline runs the program three times, keeps the run in the middle, and says how far the runs differ.
cat >varying.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char** words) {  // 1,000,000 bytes, in each run 50,000 more than in the one before
  struct stat facts;
  const int file = open("runs.txt", O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fstat(file, &facts) != 0 || write(file, ".", 1) != 1) return 1;
  char* volatile block = malloc(1000000 + 50000 * (size_t)facts.st_size);
  if (count == 1 || facts.st_size == 0) free(block);  // with an argument it leaks, but in its first run
  (void)words;
  return 0;
}
C
${CC:-cc} -g varying.c -o varying || fail "cc"
cp "$TARGETS/leaky" .
expect_status 0 check --baseline base.json --update-baseline -- ./leaky
expect_eq "words" "$(cat err.txt)" "saved  base.json  the baseline of leaky"

expect_status 0 check --baseline base.json --update-baseline -- ./varying
expect_eq "runs" "$(cat runs.txt)" ...
expect_eq "words" "$(cat err.txt)" "saved  base.json  the baseline of varying
       its 3 runs differ by up to 10.0 % (host peak), more than the tolerance: --tolerance 20%, or --runs 5"
expect_status 1 check --baseline base.json -- ./varying
expect_in out.txt "baseline 1.00 MiB"
expect_in out.txt "two runs of one program may differ by so much: --runs 5 judges their median"

rm runs.txt
expect_status 0 check --baseline base.json --update-baseline --tolerance 20% -- ./varying
expect_eq "words" "$(tail -n 1 err.txt)" "       its 3 runs differ by up to 10.0 % (host peak)"
expect_status 0 check --baseline base.json --tolerance 20% -- ./varying
expect_status 0 check --baseline base.json --update-baseline --runs 1 -- ./varying
expect_eq "words" "$(cat err.txt)" "saved  base.json  the baseline of varying"

rm runs.txt
expect_status 0 check --baseline base.json --update-baseline -- ./varying leak
expect_eq "words" "$(tail -n 1 err.txt)" "       its 3 runs differ: host leaked is 0 B to 1.05 MiB"
