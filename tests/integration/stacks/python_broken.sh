# A chain of Python frames that is damaged in every way (pointers to nothing, to pages that are gone, to the chain
# itself, to what is no code object) harms nobody: the program ends as without us, every block is counted, and what
# could not be read is said.
have cc || skip "no C compiler"
cc -O1 -g -shared -fPIC -o libbreak.so "$SOURCE/tests/targets/stacks/python/break_frames.c" -ldl || fail "the library does not compile"
cat >broken.py <<'PY'
import ctypes, sys, threading
library = ctypes.PyDLL("./libbreak.so")
library.heapprof_test_break.restype = ctypes.c_long
library.heapprof_test_break.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_int]
def deep(left, seed):
    if left:
        return deep(left - 1, seed)
    return library.heapprof_test_break(5000, seed, sys.version_info[1])
taken = sum(deep(seed, seed) for seed in range(1, 9))
thread = threading.Thread(target=deep, args=(3, 99))
thread.start()
thread.join()
print(taken + 5000)
PY
tried=0
for python in $(pythons); do
  minor=$("$python" -c 'import sys; print(sys.version_info[1])')
  [ "$minor" -le 14 ] || continue  # the library knows no more
  profile "$python" broken.py
  expect_eq "exit status of $python" $status 0
  expect_eq "what $python printed" "$(cat out.txt)" 45000
  expect_eq "blocks of $python" "$(sum '\bheapprof_test_break\b' | cut -d' ' -f1-2)" "$((45000 * 1237)) 45000"
  expect_eq "live at the end" "$(sum '\bheapprof_test_break\b' | cut -d' ' -f3-4)" "0 0"
  [ "$(counter python_broken_count)" -gt 1000 ] || fail "only $(counter python_broken_count) broken chains were noticed in $python"
  expect_in err.txt HP231
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || skip "no Python whose frames are known"
