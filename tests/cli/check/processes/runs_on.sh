# A process that runs on after the program's end and was never profiled is no less there than others: it is named on the
# terminal and in the outputs, of a run and of a profile.
cat >leaves.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  char byte;
  if (malloc(1237) == NULL) return 1;
  return fork() == 0 ? read(open("fifo", O_RDONLY), &byte, 1) != 1 : 0;
}
C
gcc -O0 leaves.c -o leaves
mkfifo fifo
for each in "" "--processes each"; do
  # shellcheck disable=SC2086
  expect_status 0 check --max-peak 10MiB $each --json x.json -o p.json -- ./leaves
  expect_eq "not judged $each" "$(jq '.checks[0].processes_not_judged_count' x.json)" 1
  expect_in err.txt "1 process that the program started ran on after its end and was never profiled [HP187]"
  expect_in err.txt "1 process that the program started was not judged"
  expect_in out.txt "1 process that it started was not judged"
  echo x >fifo
done
expect_in err.txt "it has no profile, or no limit [HP161]"
expect_status 0 check --max-peak 10MiB --json x.json p.json
expect_eq "not judged, of a profile" "$(jq '.checks[0].processes_not_judged_count' x.json)" 1
expect_in err.txt "[HP187]"
