# Python frames, in every version that the machine has: a program that calls in every way there is, from several
# threads, keeps books of its own by sys._getframe, and the profile says the same, to the byte. Every call of the
# evaluator has the frames that it ran. Code objects come and go at the same addresses all the while.
have cc || skip "no C compiler"
cc -O1 -g -shared -fPIC -o libtake.so "$SOURCE/tests/targets/stacks/python/take.c" || fail "the library does not compile"
oracle=$SOURCE/tests/support/python_oracle.py
tried=0
for python in $(pythons); do
  for seed_threads in 1:1 2:3; do
    status=0
    "$HEAPPROF_BIN" run -q --all-sites -o profile.json -- "$python" "$oracle" run ./libtake.so books.json "${seed_threads%:*}" 30 "${seed_threads#*:}" >out.txt 2>err.txt || status=$?
    [ $status = 0 ] || { tail -n 5 err.txt >&2; fail "$python ended with $status"; }
    check_profile profile.json
    expect_eq "lost events of $python" "$(counter lost_count)" 0
    expect_eq "broken chains of $python" "$(counter python_broken_count)" 0
    expect_eq "code objects without room of $python" "$(counter codes_lost_count)" 0
    "$PYTHON" "$oracle" compare profile.json books.json >compared.txt || { cat compared.txt >&2; fail "$python: the frames differ from sys._getframe's (seed:threads $seed_threads)"; }
  done
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || skip "no Python whose frames are known"
# The same with the reference unwinder beside, which takes other paths.
"$HEAPPROF_BIN" run -q --all-sites --verify-stacks -o profile.json -- "$PYTHON" "$oracle" run ./libtake.so books.json 3 10 2 >out.txt || fail "with --verify-stacks it ended with $?"
expect_eq "stacks that differ from libunwind's" "$(counter verify_mismatched_count)" 0
"$PYTHON" "$oracle" compare profile.json books.json >compared.txt || { cat compared.txt >&2; fail "with --verify-stacks the frames differ"; }
# A process that is killed has its frames, too, and a forked child has its own.
cat >killed.py <<'PY'
import ctypes, os, signal
library = ctypes.CDLL("./libtake.so")
library.heapprof_test_take.restype = ctypes.c_void_p
def keep(size):
    return library.heapprof_test_take(size)
def child():
    keep(2001)
    os.kill(os.getpid(), signal.SIGKILL)
if os.fork() == 0:
    child()
os.wait()
keep(1001)
os.kill(os.getpid(), signal.SIGKILL)
PY
"$HEAPPROF_BIN" run -q -o killed.json -- "$PYTHON" killed.py >out.txt 2>err.txt || true
expect_eq "the killed parent's calls" "$(stacks 'heapprof_test_take' killed.json | grep -o 'keep < .*' | cut -d'<' -f1-3)" "keep < <module> "
expect_in killed.json "keep ($PWD/killed.py:5)"
other=$(ls killed.*.json | head -1)
expect_eq "the killed child's calls" "$(stacks 'heapprof_test_take' "$other" | grep -o 'keep < .*' | cut -d'<' -f1-4)" "keep < child < <module> "
expect_in "$other" "child ($PWD/killed.py:7)"
