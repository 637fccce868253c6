# Every signal that is sent to heapprof reaches the program once, in the order in which they came; one that the program
# got by itself is not sent to it again.
start() {  # COMMAND…: in a session of its own, its words on descriptor 3, its input held open by descriptor 4
  rm -f words input profile.json
  mkfifo words input
  setsid "$HEAPPROF_BIN" run -q -o profile.json -- "$@" >words 2>err.txt <input &
  cli=$!
  exec 3<words 4>input
  expect_word ready
}
expect_word() {
  read -r -t 20 -u 3 word || fail "the program says nothing, where '$1' was to come"
  expect_eq "the program's word" "$word" "$1"
}
finish() {  # STATUS
  exec 4>&-
  ends_with "$1"
}
ends_with() {  # STATUS
  status=0
  wait $cli || status=$?
  expect_eq "exit status" $status "$1"
  expect_eq "what the program says last" "$(cat <&3)" ""
  check_profile profile.json
  expect_sum '^allocate' "3705 3 3705 3"
}
number_of() { kill -l "$1"; }

start "$TARGETS/counts_signals"
for name in HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM CONT URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS \
  RTMIN RTMIN+1 RTMAX; do
  kill -$name $cli
  expect_word "$(number_of $name) 0"
done
finish 6

# A value goes with it, and so many as were sent.
start "$TARGETS/counts_signals"
"$PYTHON" - $cli <<'P'
import ctypes, signal, sys
libc = ctypes.CDLL(None)
for value in (7, 8, 9):
    libc.sigqueue(int(sys.argv[1]), signal.SIGRTMIN + 2, ctypes.c_void_p(value))
P
for value in 7 8 9; do expect_word "$(number_of RTMIN+2) $value"; done
finish 6

# To the process group, and to each process by itself: once. The second signal shows that nothing else was on its way.
for name in TERM INT HUP QUIT; do
  start "$TARGETS/counts_signals"
  kill -$name -- -$cli
  expect_word "$(number_of $name) 0"
  kill -USR2 $cli
  expect_word "$(number_of USR2) 0"
  finish 6
done
start "$TARGETS/counts_signals"
kill -TERM $cli "$(pgrep -o -P $cli)"
expect_word "$(number_of TERM) 0"
kill -USR2 $cli
expect_word "$(number_of USR2) 0"
finish 6

# A handler that holds once: the program that ends well by one signal would be ended by a second.
cat >once.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void end(int number) {
  (void)number;
  usleep(100000);
  _exit(9);
}
int main(void) {
  struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESETHAND};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
C
gcc -o once once.c
for name in TERM INT TERM INT; do
  start ./once
  kill -$name -- -$cli
  status=0
  wait $cli || status=$?
  expect_eq "SIG$name to the group, handled once" $status 9
  exec 4>&-
done

# What ends the program ends it with that signal; its input stays open until then, as its end would end it too.
start "$TARGETS/counts_signals" "$(number_of USR1)"
kill -USR1 $cli
ends_with $((128 + $(number_of USR1)))
exec 4>&-

# A program that has timers and children is told of what is sent to heapprof alone, too. (A trap that runs while bash
# reads a command substitution ends that with a syntax error: it has none left by then.)
start bash -c 'trap "echo got" USR1; all=$(seq 200); echo ready; for i in $all; do read -t 0.01 -u 4 || [ $? -gt 128 ] || break; /bin/true; done 4<&0; exit 6'
kill -USR1 $cli
expect_word got
exec 4>&-
wait $cli || true
exec 3<&-
