# What an attach could harm for good, or be harmed by: a process whose memory another one has, signals that are sent
# with the numbers of faults, a handler that may have interrupted malloc, children that see that heapprof was there.
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ] || [ "$(id -u)" = 0 ] ||
  skip "this machine forbids ptrace (yama)"
programs=''
at_end() { kill -9 $programs 2>/dev/null || true; }
start() {  # NAME KIND: the program, as $program; words for it go to words.NAME, what it says is in said.NAME
  mkfifo "words.$1"
  "$TARGETS/attach_hazards" "$2" <>"words.$1" >"said.$1" &
  program=$!
  programs="$programs $program"
  wait_for 60 "the word of $1" test -s "said.$1"
}
finish() {  # NAME PID: it ends, with 0
  echo end >"words.$1"
  wait_for 60 "$1: its end" is_over "$2"
  local status=0
  wait "$2" || status=$?
  expect_eq "$1: it says $(tail -n 1 "said.$1") and ends with" $status 0
}

# In a handler for longer than heapprof looks for a thread: with libc's code to return from it, and with the program's.
# Both look at once, beside all that follows.
for kind in handler own_restorer; do
  start $kind $kind
  declare "$kind=$program"
  "$HEAPPROF_BIN" attach -q --for 20ms -o $kind.json "$program" 2>$kind.txt &
  declare "attach_$kind=$!"
done

# A process that has another one's memory; one whose memory a child has, beside it.
start vfork vfork
expect_status 1 "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$(pgrep -P "$program")"
expect_in err.txt "process $program has the same memory"
expect_eq "the agent's mappings in it" "$(grep -c libheapprof "/proc/$program/maps")" 0
finish vfork "$program"
start beside beside
expect_status 1 "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program"
expect_in err.txt "its child $(pgrep -P "$program") has the same memory"
finish beside "$program"

# Signals with the numbers of faults: each arrives once, and as it was sent.
start signals signals
for _ in 1 2 3; do
  "$HEAPPROF_BIN" attach -q --for 100ms -o profile.json "$program" 2>err.txt || { cat err.txt >&2; fail "signals: $?"; }
done
finish signals "$program"

# A child that was forked while heapprof was attached starts a program after the detach.
start forker forker
"$HEAPPROF_BIN" attach -q -o profile.json "$program" &
attached=$!
is_profiled() { "$HEAPPROF_BIN" snapshot -q -o now.json "$program" 2>/dev/null; }
wait_for 60 "the attach to the forker" is_profiled
echo fork >words.forker
wait_for 60 "the fork" grep -q forked said.forker
kill -INT $attached
wait $attached || fail "attach, of a program that forked: $?"
finish forker "$program"
expect_in said.forker "given: "
expect_eq "what the program was given that was started after the detach" "$(sed -n 's/^given: //p' said.forker)" ""

# Files that are mapped as data, a variable that gets the rest of a sleep, what only a thread alone may do.
for kind in data_copy nap namespaces; do
  start $kind $kind
  ! grep -q 'not possible' said.$kind || not_tried "$kind"
  for _ in 1 2 3; do
    "$HEAPPROF_BIN" attach -q --for 150ms -o profile.json "$program" 2>err.txt || { cat err.txt >&2; fail "$kind: $?"; }
  done
  finish $kind "$program"
done

# What cannot be written would be missed: refused, and nothing differs.
gcc -shared -fPIC -Wl,-z,noseparate-code -x c - -o libfree.so <<'END'
extern void __libc_free(void*);
void free(void* block) { __libc_free(block); }
END
for kind in sealed between_code; do
  case $kind in
    sealed) start $kind $kind ;;
    between_code) LD_PRELOAD=$PWD/libfree.so start $kind allocates ;;
  esac
  if grep -q 'not possible' said.$kind; then
    not_tried "$kind"
  else
    expect_status 1 "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program"
    expect_in err.txt "the agent could not redirect every call of malloc, free and their like"
  fi
  finish $kind "$program"
done

# A thread's number, and what has no memory.
start thread waiter
other=$(ls "/proc/$program/task" | grep -v "^$program\$")
expect_status 1 "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$other"
expect_in err.txt "it is a thread of process $program"
finish thread "$program"

# No process of ours where the program would see it: with an allocator that is tried in a copy.
jemalloc=$(ls /usr/lib/x86_64-linux-gnu/libjemalloc.so.[0-9] 2>/dev/null || true)
if [ -n "$jemalloc" ]; then
  export LD_PRELOAD=$jemalloc
  start waiter waiter
  unset LD_PRELOAD
  "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program" || fail "waiter: $?"
  finish waiter "$program"
  if unshare --pid true 2>/dev/null; then
    "$HEAPPROF_BIN" run -q -o run.json -- env LD_PRELOAD="$jemalloc" unshare --pid "$TARGETS/attach_hazards" fork ||
      fail "a fork in a new pid namespace: $?"
  else
    not_tried "pid namespaces"
  fi
else
  not_tried "no jemalloc here"
fi

for kind in handler own_restorer; do
  attach=attach_$kind status=0
  wait "${!attach}" || status=$?
  expect_eq "$kind: attach ends with" $status 1
  expect_in $kind.txt "it may be in a signal handler"
  finish $kind "${!kind}"
done
