# A program that is stopped while heapprof attaches to it: our thread may then wait for a lock that a stopped thread
# holds. Told to leave, heapprof leaves, and the program goes on as before.
cat >busy.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t is_over;
static void end(int number) { is_over = number; }
static void* work(void* unused) {
  for (unsigned i = 0; !is_over; ++i) free(malloc(i % 70000));
  return unused;
}
int main(void) {
  pthread_t threads[8];
  signal(SIGUSR1, end);
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, work, NULL);
  if (puts("ready") < 0 || fflush(stdout) != 0) return 1;
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  return 7;
}
C
gcc -O1 busy.c -o busy -pthread
has_left() { ! kill -0 "$attach" 2>/dev/null; }
is_stopped() { grep -q '^State:.[Tt]' "/proc/$program/status"; }
at_end() { kill -9 "${program:-0}" 2>/dev/null || true; }
for seconds in 0.03 0.06 0.1 0.16 0.25 0.4; do
  ./busy >said.txt &
  program=$!
  wait_for 60 "the program's word" test -s said.txt
  "$HEAPPROF_BIN" attach --no-summary -o profile.json $program 2>err.txt &
  attach=$!
  sleep $seconds
  kill -STOP $program
  wait_for 60 "the stop" is_stopped
  kill -INT $attach 2>/dev/null || true  # it may have said already that the program is stopped
  wait_for 30 "attach to leave as it was told to ($seconds s after its start)" has_left
  wait $attach || true
  kill -CONT $program
  kill -USR1 $program
  status=0
  wait $program || status=$?
  expect_eq "status of the program" $status 7
done
