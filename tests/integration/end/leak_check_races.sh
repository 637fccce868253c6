# --leak-check of programs whose other threads do something at that very moment: they call exec, exit, start threads,
# get signals; heapprof or the program is killed while threads are held still. A signal handler forks in the wait.
races() { timeout -s KILL 120 "$HEAPPROF_BIN" run -q --leak-check -o run.%p.json -- "$TARGETS/leak_races" "$@"; }
expect_races() {  # STATUS HOW…
  local want=$1 got=0
  shift
  rm -f run.*.json
  races "$@" >out.txt 2>err.txt || got=$?
  [ "$got" = "$want" ] || { cat err.txt >&2; fail "exit status of '$*': got $got, want $want"; }
}

# A thread that calls exec waits for all others to be gone. Who traces one of those and asks for another waits for exec.
for ((i = 0; i < 60; ++i)); do expect_races 3 exec $((i * 50)); done
check_profile run.*.json
# Of a thread that stopped because a signal came, the tracer has the signal.
for i in 1 2 3 4 5 6; do expect_races 4 signals; done
check_profile run.*.json
for delay in 0 50 100 200 400 800 1600; do expect_races 8 exits $delay; done
for i in 1 2 3; do expect_races 7 spawn; done
# A call that the stop ended, and nothing else, begins anew: the thread never sees EINTR.
for i in 1 2 3; do expect_races 10 calls; done
check_profile run.*.json
expect_races 6 many
check_profile run.*.json

await_end() {  # PID
  (wait_for 60 "the end of process $1" is_over "$1") || { grep -E 'State|Tracer' "/proc/$1/status" >&2; exit 1; }
}
# heapprof, or the program, is killed at any moment of it.
for whom in heapprof program; do
  for delay in 0.02 0.04 0.06 0.08 0.1 0.12 0.14 0.16 0.18 0.2; do
    "$HEAPPROF_BIN" run -q --leak-check -o run.json -- "$TARGETS/leak_races" many >out.txt 2>err.txt &
    cli=$!
    sleep $delay
    target=$(pgrep -o -P $cli) || true
    if [ $whom = heapprof ]; then
      kill -KILL $cli || true
      wait $cli || true
      [ -z "$target" ] || await_end "$target"
    else
      [ -z "$target" ] || kill -KILL "$target" || true
      status=0
      wait $cli || status=$?
      case $status in 6 | 137) ;; *) fail "exit status of a program that was killed: $status" ;; esac
    fi
  done
done

at_end() { kill -KILL $cli 2>/dev/null || true; }
# A handler that comes while the program waits forks: nobody will answer the child, which waits no more.
mkfifo words input
"$HEAPPROF_BIN" run -q --wait --leak-check -o run.%p.json -- "$TARGETS/leak_races" fork >words <input 2>err.txt &
cli=$!
exec 3<words 4>input
read -r -t 60 word <&3
expect_eq "the program's word" "$word" go
target=$(pgrep -o -P $cli)
kill -STOP $cli
echo >&4
wait_for 60 "the program's wait" sleeps_in "$target" 202  # futex
kill -ALRM "$target"
has_child() { child=$(pgrep -P "$target"); }
wait_for 60 "its handler's child" has_child
kill -CONT $cli
await_end "$child"
status=0
wait $cli || status=$?
expect_eq "exit status of a program whose handler forked" $status 9
