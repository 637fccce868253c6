# Programs that stand where it is hard to load a library into them, attached to and detached from again and again: each
# goes on, and ends as it does alone. HEAPPROF_ZOO_CYCLES: how often each (1; 2 with HEAPPROF_LONG).
cycles=${HEAPPROF_ZOO_CYCLES:-1}
step=3  # of the requests at which heapprof is killed
[ -z "${HEAPPROF_LONG:-}" ] || cycles=${HEAPPROF_ZOO_CYCLES:-2} step=1
program=''
at_end() { kill -9 $program 2>/dev/null || true; }
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ] || [ "$(id -u)" = 0 ] ||
  skip "this machine forbids ptrace (yama)"

start() {  # COMMAND…: the program, as $program; a line ends it
  rm -f words said.txt
  mkfifo words
  "$@" <words >said.txt &
  program=$!
  exec 7>words
  wait_for 60 "the word of $*" test -s said.txt
}
finish() {  # WHAT: it ends, with 0
  echo end >&7 || true
  exec 7>&-
  wait_for 60 "$1: its end" has_ended
  local status=0
  wait "$program" || status=$?
  expect_eq "$1: it says $(tail -n 1 said.txt) and ends with" $status 0
}
has_ended() { ! kill -0 "$program" 2>/dev/null; }  # is_over would take the end of its first thread for it

library() { ls /usr/lib/x86_64-linux-gnu/lib"$1".so.[0-9] 2>/dev/null | head -n 1; }
jemalloc=$(library jemalloc) tcmalloc=$(library tcmalloc_minimal) mimalloc=$(library mimalloc)
refused="strict walk first_ended"
for kind in $("$TARGETS/attach_zoo"); do
  case $kind in write_alone | sleep_anew) continue ;; esac  # below
  for preload in "" "$jemalloc:$tcmalloc" "$mimalloc"; do
    [ -z "$preload" ] || case $kind in heap | heap_threads) ;; *) continue ;; esac
    what="$kind${preload:+ with $preload}"
    start env LD_PRELOAD="$preload" "$TARGETS/attach_zoo" "$kind"
    times=$cycles
    [ "$kind" != handlers ] || times=$((8 * cycles))
    for _ in $(seq "$times"); do
      status=0
      "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program" 2>err.txt || status=$?
      case " $refused " in
        *" $kind "*) expect_eq "$what: attach ends with" $status 1 ;;
        *) [ $status = 0 ] || { cat err.txt >&2; fail "$what: attach ended with $status"; } ;;
      esac
    done
    finish "$what"
  done
done
# Where arenas are few, ours shares the one that the only thread of a program may be changing.
start env MALLOC_ARENA_MAX=1 "$TARGETS/attach_zoo" heap
for _ in $(seq "$cycles"); do "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program" || fail "one arena: $?"; done
finish "one arena"

# Our thread begins as a program's first one does, whatever the thread is like that made it.
start env LD_PRELOAD="$TARGETS/attach_guard.so" GUARD=state "$TARGETS/attach_zoo" strict_floats
"$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program" 2>err.txt || { cat err.txt >&2; fail "strict floats: $?"; }
finish "strict floats"
# It faults in the middle of dlopen: it unlocks what it holds of the loader's, and the program loads libraries on.
start env LD_PRELOAD="$TARGETS/attach_guard.so" GUARD=fault "$TARGETS/attach_zoo" loader
for _ in $(seq "$cycles"); do
  expect_status 1 "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program"
  expect_in err.txt "signal "
done
finish "a fault in dlopen"

# The only thread is in a call that a stop would end too early: it is left alone, and the error says in which.
start "$TARGETS/attach_zoo" write_alone
expect_status 1 "$HEAPPROF_BIN" attach -q -o profile.json "$program"
expect_in err.txt "is in write(), which a stop would end too early"
# Told to leave, and ended, before a thread was found: it says so.
# As long as it looks for one, it has the process's folder open.
is_looking() { ls -l "/proc/$attached/fd" 2>/dev/null | grep -q -- "-> /proc/$program\$"; }
"$HEAPPROF_BIN" attach -q -o profile.json "$program" 2>err.txt &
attached=$!
wait_for 60 "the search for a thread" is_looking
kill -INT $attached
wait $attached && fail "attach, when it was told to leave: 0"
expect_in err.txt "heapprof was asked to stop before it was attached"
finish "a write"
start "$TARGETS/attach_zoo" write_alone
"$HEAPPROF_BIN" attach -q -o profile.json "$program" 2>err.txt &
attached=$!
wait_for 60 "the search for a thread" is_looking
kill -KILL "$program"
wait $attached && fail "attach, when the program was killed: 0"
wait "$program" 2>/dev/null || true
exec 7>&-
expect_in err.txt "it has ended"
expect_eq "a suggestion to try again" "$(grep -c 'try again' err.txt)" 0

# A stop of the whole process while heapprof is in it: it stops, and goes on when it is told to.
start "$TARGETS/attach_zoo" pipe
for delay in 0.01 0.02 0.03 0.04 0.05 0.06 0.07 0.08 0.1 0.12; do
  "$HEAPPROF_BIN" attach -q --for 100ms -o profile.json "$program" 2>err.txt &
  attached=$!
  sleep $delay
  kill -STOP "$program"
  # Once is enough: while heapprof looks at a program that is stopped, its state is "t".
  is_stopped=''
  for _ in $(seq 500); do
    ! grep -q '^State:.*T' "/proc/$program/status" || { is_stopped=yes && break; }
    sleep 0.02
  done
  [ -n "$is_stopped" ] || { cat "/proc/$program/status" >&2; fail "a stop $delay s after attach began: it does not stop"; }
  kill -CONT "$program"
  wait $attached || grep -q 'is stopped' err.txt || { cat err.txt >&2; fail "a stop $delay s after attach began: attach ended so"; }
done
finish "stops"
# Killed at one of its first requests: the program has its signals, and its call comes back as it would have. A sleep
# may have begun anew: the kernel forgets its own record of it when the thread returns by the frame that heapprof left.
if have strace; then
  for request in $(seq 8 $step 20); do
    start "$TARGETS/attach_zoo" sleep_anew
    strace -f -o /dev/null -e trace=ptrace -e "inject=ptrace:signal=SIGKILL:when=$request" \
      "$HEAPPROF_BIN" attach -q --for 200ms -o profile.json "$program" 2>/dev/null || true
    sleep 0.1
    expect_eq "killed at request $request: signals that it blocks" \
      "$(awk '/^SigBlk/ { print $2 }' "/proc/$program/status")" 0000000000000000
    finish "killed at request $request"
  done
else
  not_tried "kills at a request of ptrace: no strace"
fi

# Why it cannot be attached to.
start "$TARGETS/attach_zoo" first_ended
expect_status 1 "$HEAPPROF_BIN" attach -q -o profile.json "$program"
expect_in err.txt "its first thread has ended"
finish "the first thread ended"
start sh -c 'ulimit -d 2048; exec "$0" pipe' "$TARGETS/attach_zoo"
expect_status 1 "$HEAPPROF_BIN" attach -q -o profile.json "$program"
expect_in err.txt "RLIMIT_DATA"
finish "a limit on data"

# Another pid namespace, as containers have: numbers of threads in the program's memory are not those that we see.
if unshare -pf --mount-proc true 2>/dev/null; then
  for kind in heap heap_threads loader_threads walk; do
    start unshare -pf --mount-proc --kill-child "$TARGETS/attach_zoo" "$kind"
    inside=$(pgrep -P "$program")
    for _ in $(seq "$cycles"); do
      status=0
      "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$inside" 2>err.txt || status=$?
      if [ "$kind" = walk ]; then
        expect_eq "$kind in a pid namespace: attach ends with" $status 1
        expect_in err.txt "its thread $inside has held the loader's lock"
        break
      else
        [ $status = 0 ] || { cat err.txt >&2; fail "$kind in a pid namespace: attach ended with $status"; }
      fi
    done
    finish "$kind in a pid namespace"
  done
else
  not_tried "pid namespaces"
fi
