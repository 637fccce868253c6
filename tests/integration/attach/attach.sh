# A program that runs is attached to: what it does from then on is counted to the byte, by its own books; what it had
# before is counted when it goes. After the detach nothing in any object leads to the agent.
at_end() { kill -9 $program $attached $child $static 2>/dev/null || true; }
program='' attached='' child='' static=''
start() {  # COMMAND…: the program, as $program; words for it go to descriptor 7
  rm -f words said.txt
  mkfifo words
  "$@" <words >said.txt &
  program=$!
  exec 7>words
  wait_for 60 "the word of $1" test -s said.txt
}
attach() {  # FLAGS…: as $attached, once the agent records
  own_tasks=$(tasks)
  "$HEAPPROF_BIN" attach "$@" -o profile.json "$program" >attach.txt 2>&1 &
  attached=$!
  (wait_for 60 "the attach" is_attached) || { cat attach.txt >&2; exit 1; }
}
tasks() { ls "/proc/$program/task" | wc -l; }
# A snapshot is answered a moment before the agent records; then heapprof's thread in the program ends.
is_attached() {
  grep -q libheapprof.so "/proc/$program/maps" && "$HEAPPROF_BIN" snapshot -q -o now.json "$program" 2>/dev/null &&
    [ "$(tasks)" -le "$own_tasks" ]
}
storms() { [ "$(ls "/proc/$program/task" | wc -l)" -gt "$1" ]; }  # THREADS: all are there; the shell before has one
pointers() { "$PYTHON" "$SOURCE/tests/support/pointers_into_agent.py" "$program"; }

[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ] || [ "$(id -u)" = 0 ] ||
  skip "this machine forbids ptrace (yama)"

libraries=$(ls /usr/lib/x86_64-linux-gnu/lib{jemalloc,tcmalloc_minimal,tcmalloc_minimal_debug,mimalloc}.so.[0-9] 2>/dev/null || true)
[ -n "$libraries" ] || not_tried "no jemalloc, tcmalloc or mimalloc here"
for library in "" $libraries; do
  for threads in 1 8; do
    what="$threads threads, ${library:-libc}"
    start env LD_PRELOAD="$library" "$TARGETS/attach_books" phases $threads
    attach --no-summary
    echo work >&7
    wait_for 60 "$what: its books" has_lines said.txt 2
    kill -INT $attached
    wait $attached || { cat attach.txt >&2; fail "$what: attach ended with $?"; }
    expect_eq "$what: words that lead into the agent after the detach" "$(pointers)" 0
    echo work >&7  # unseen
    echo end >&7
    wait $program || fail "$what: the program ended with $?"
    check_profile profile.json
    expect_complete
    read -r count bytes _ live live_bytes before <<<"$(sed -n 2p said.txt)"
    expect_sum '::take' "$bytes $count $live_bytes $live"
    expect_eq "$what: frees of what was there before" "$(counter inherited_frees_count)" "$before"
    expect_eq "$what: blocks whose end was not seen" "$(counter unseen_frees_count)" 0
    expect_eq "$what: is_attached, end" "$(json profile.json '.heapprof.run | "\(.is_attached) \(.end)"')" "true detached"
  done
done

# Again and again, while threads allocate and load and unload a library. What they have is whole; memory does not grow.
start sh -c 'echo ready; exec "$0" storm 4' "$TARGETS/attach_books"
memory() { awk '/^VmSize|^VmRSS/ { n += $2 } END { print n }' "/proc/$program/status"; }
wait_for 60 "the storm" storms 4
for cycle in $(seq 25); do
  "$HEAPPROF_BIN" attach -q --for 20ms -o profile.json "$program" 2>err.txt || { cat err.txt >&2; fail "cycle $cycle: $?"; }
  expect_complete
  [ "$cycle" != 5 ] || before=$(memory)
done
after=$(memory)
[ $after -le $((before + 2048)) ] || fail "after 20 more cycles it has $after KiB, before $before KiB"
expect_eq "words that lead into the agent" "$(pointers)" 0
# heapprof is killed, at any moment of it; whatever is left does no harm, and the next one is as good.
for cycle in $(seq 25); do
  "$HEAPPROF_BIN" attach -q --for 40ms -o killed.json "$program" 2>/dev/null &
  sleep "0.0$(printf %02d $((cycle * 3)))"
  kill -9 $! 2>/dev/null || true
  wait $! 2>/dev/null || true
done
"$HEAPPROF_BIN" attach -q --for 100ms -o profile.json "$program" || fail "after 25 killed ones: $?"
expect_complete
# Ended from elsewhere.
attach -q
expect_status 1 "$HEAPPROF_BIN" attach "$program"
expect_in err.txt "is being profiled already"
expect_status 0 "$HEAPPROF_BIN" detach "$program"
wait $attached || fail "attach, when it was ended from elsewhere: $?"
expect_complete
expect_eq "words that lead into the agent" "$(pointers)" 0
expect_status 1 "$HEAPPROF_BIN" detach "$program"
expect_in err.txt "no heapprof is attached"
exec 7>&-
wait $program || fail "the program that was attached to so often ended with $?"

# It is killed: the profile is written.
start sh -c 'echo ready; exec "$0" storm 4' "$TARGETS/attach_books"
wait_for 60 "the storm" storms 4
attach -q
kill -9 $program
wait $attached || fail "attach, when the program was killed: $?"
expect_complete
exec 7>&-
wait $program 2>/dev/null || true

# Children by fork and exec, of Python.
cat >children.py <<'PY'
import os, subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
mine = [bytes(3000 + i) for i in range(100)]
child = os.fork()
if child == 0:
    its = [bytes(5000 + i) for i in range(50)]
    os._exit(0)
os.waitpid(child, 0)
subprocess.run([sys.argv[1], "phases", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
sys.stdin.readline()
PY
start "$PYTHON" children.py "$TARGETS/attach_books"
rm -f profile.*json
attach -q
echo go >&7
have_profiles() { [ "$(ls profile.*.json 2>/dev/null | wc -l)" -ge 2 ]; }
wait_for 60 "the profiles of both children" have_profiles
kill -INT $attached
wait $attached || fail "attach, of Python: $?"
echo end >&7
wait $program || fail "Python ended with $?"
bytes=$("$PYTHON" -c 'print(sum(3000 + i + bytes().__sizeof__() for i in range(100)))')
got=$(json profile.json '.heapprof.devices[] | select(.name == "host") | .totals.total_bytes')
[ "$got" -ge "$bytes" ] && [ "$got" -le $((bytes + 200000)) ] && expect_in profile.json "<listcomp> ($PWD/children.py:4)" ||
  fail "Python allocated $bytes bytes, the profile has $got"
expect_eq "profiles of its children" "$(ls profile.*.json | wc -l)" 2

# The agent is there from the start, and its heapprof is gone: that of a run, of an attach before an exec, or none.
heapprof_gone() {  # WHAT
  "$HEAPPROF_BIN" attach -q --for 200ms -o profile.json "$program" 2>err.txt || { cat err.txt >&2; fail "$1: attach ended with $?"; }
  expect_complete
  [ "$(counter allocations_count)" -gt 0 ] || fail "$1: nothing was recorded"
}
start "$HEAPPROF_BIN" run -q -o run.json -- sh -c 'echo ready; exec "$0" storm 2' "$TARGETS/attach_books"
run=$program
run_storms() { program=$(pgrep -P $run -x attach_books) && storms 2; }
wait_for 60 "the storm of the run" run_storms
kill -9 $run
wait $run 2>/dev/null || true
heapprof_gone "after a run that was killed"
heapprof_gone "and again"
kill $program
start sh -c 'echo ready; read -r go; exec "$0" storm 2' "$TARGETS/attach_books"
attach -q
echo go >&7
wait_for 60 "the storm behind the exec" storms 2
kill -INT $attached
wait $attached || fail "attach, over an exec: $?"
heapprof_gone "after an attach before the exec"
kill $program
start env LD_PRELOAD="$(find "$BUILD" -name libheapprof.so | head -1)" HEAPPROF=+/tmp/heapprof-gone sh -c 'echo ready; exec "$0" storm 2' "$TARGETS/attach_books"
wait_for 60 "the storm behind its shell" storms 2
heapprof_gone "with variables of a session that is over"
kill $program
exec 7>&-

# What cannot be attached to.
expect_status 1 "$HEAPPROF_BIN" attach 999999999
expect_in err.txt "there is no process 999999999"
expect_status 2 "$HEAPPROF_BIN" attach
expect_status 2 "$HEAPPROF_BIN" attach --for "5 parsecs" $$
expect_in err.txt "--for takes a time"
"$HEAPPROF_BIN" run -q -o run.json -- sleep 600 &
run=$!
is_profiled() { child=$(pgrep -P $run -x sleep) && "$HEAPPROF_BIN" snapshot -q -o now.json "$child" 2>/dev/null; }
wait_for 60 "the profiled sleep" is_profiled
expect_status 1 "$HEAPPROF_BIN" attach "$child"
expect_in err.txt "is being profiled already"
expect_status 1 "$HEAPPROF_BIN" detach "$child"
expect_in err.txt "no heapprof is attached"
kill "$child"
wait $run || true
child=
if have cc && echo 'int main(void) { for (;;) __builtin_ia32_pause(); }' >static.c && cc -static static.c -o static 2>/dev/null; then
  ./static &
  static=$!
  expect_status 1 "$HEAPPROF_BIN" attach $static
  expect_in err.txt "it is linked statically"
  kill $static
fi
