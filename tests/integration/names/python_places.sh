# Where a Python program's memory is said to be: its own lines, imports and the interpreter's start; whose code asked
# for it; and what is a leak of the program's own when the interpreter ends.
export LC_ALL=C.UTF-8 COLUMNS=100

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "Python 3.8 or newer is needed"
site=venv/lib/python3.11/site-packages
mkdir -p $site/bulky $site/bulky.libs app
export PYTHONPATH=$PWD/$site PYTHONDONTWRITEBYTECODE=1

cat >$site/bulky/__init__.py <<'end'
from bulky import tables
TABLE = bytearray(3_000_017)
def make(size):
    return bytearray(size)
end
echo 'ROWS = bytearray(1_000_019)' >$site/bulky/tables.py
cat >$site/bulky/__main__.py <<'end'
import bulky
def serve():
    return bulky.make(700_001)
KEPT = serve()
end
cat >app/model.py <<'end'
WEIGHTS = bytearray(2_000_003)  # of a module of its own
class Net:
    def forward(self):
        return [bytearray(50_021) for _ in range(10)]  # a comprehension
end
cat >app/train.py <<'end'
import bulky  # the import
import model
import collections
Point = collections.namedtuple("Point", "x y")
def step(net):
    held = net.forward()
    made = bulky.make(4_000_037)  # of a library
    return held, made, Point(bytearray(60_013), 1)  # by code that was made
if __name__ == "__main__":
    kept = step(model.Net())
    print(len(kept))
end

# place SIZE: the function, file and line that blocks of so many bytes are placed at, with further flags
place() {
  local size=$1
  shift
  "$HEAPPROF_BIN" report --format json "$@" profile.json |
    jq -r --argjson size "$size" '[.devices[] | select(.name == "host") | .places[]
      | select(.largest_block_bytes == $size or .smallest_block_bytes == $size)][0]
      | "\(.function) \((.file // "") | sub(".*/"; "")):\(.line)"'
}
profile "$PYTHON" app/train.py
expect_eq "exit status" "$status" 0
grep -q HP1 err.txt && skip "the frames of $PYTHON cannot be read"
expect_complete
line=$(line_of app/train.py "of a library")
expect_eq "what a library makes for a line" "$(place 4000038)" "step train.py:$line"
expect_eq "the import" "$(place 3000018)" "import bulky train.py:1"
expect_eq "a module of its own" "$(place 2000004)" "<module> model.py:1"
expect_eq "a library's own line" "$(place 4000038 --libraries)" "make __init__.py:4"
expect_eq "what an import imports" "$(place 1000020 --libraries)" "<module> tables.py:1"
"$HEAPPROF_BIN" report profile.json >out.txt
expect_in out.txt "start of Python"
expect_in out.txt "import bulky"
expect_in out.txt "train.py:$line"
expect_not_in out.txt "PyEval"
sum=$("$HEAPPROF_BIN" report --format json profile.json | jq '.devices[0] | .peak_bytes - ([.packages[].peak_bytes] | add)')
expect_eq "packages add to the peak" "$sum" 0
expect_eq "the largest package" "$("$HEAPPROF_BIN" report --format json profile.json | jq -r '.devices[0].packages[0].name')" bulky
"$HEAPPROF_BIN" report --packages profile.json >out.txt
expect_in out.txt "(your code)"

# A package that is run is the program.
profile "$PYTHON" -m bulky
expect_eq "a package that runs" "$(place 700002)" "make __init__.py:4"
place 3000018 >got.txt
expect_in got.txt "import bulky :"

# What is typed is one's own.
profile "$PYTHON" -c 'kept = bytearray(123_457)'
expect_eq "python -c" "$(place 123458)" "<module> <string>:1"

# Nothing is left of a tidy program, for which the interpreter is no excuse.
expect_status 0 "$HEAPPROF_BIN" check --max-leaked host=0B -- "$PYTHON" app/train.py
expect_status 1 "$HEAPPROF_BIN" check --no-default-suppressions --max-leaked host=0B -- "$PYTHON" app/train.py

# What an extension forgets, and a list that something keeps, are leaks, be it while a module is loaded.
cat >forget.c <<'end'
#include <stdlib.h>
void* forget(size_t size) { return malloc(size); }
end
cc -shared -fPIC -g -o libforget.so forget.c || skip "there is no compiler"
cat >app/leaks.py <<'end'
import ctypes
forget = ctypes.CDLL("./libforget.so").forget
forget(11_003)
class Cache:
    rows = bytearray(22_005)  # a reference too many
ctypes.pythonapi.Py_IncRef(ctypes.py_object(Cache.rows))
end
echo 'import leaks' >app/leaky.py
profile "$PYTHON" app/leaky.py
leaked=$("$HEAPPROF_BIN" report --format json profile.json | jq -c '[.devices[0].places[]
  | select(.leaked_bytes > (.suppressed_leaked_bytes // 0)) | [.function, .leaked_bytes - (.suppressed_leaked_bytes // 0)]] | sort')
expect_eq "what is a leak" "$(jq -c '[.[] | select(.[1] > 10000)]' <<<"$leaked")" '[["Cache",22006],["forget",11003]]'
expect_status 1 "$HEAPPROF_BIN" check --max-leaked host=0B -- "$PYTHON" app/leaky.py
expect_in out.txt "leaks.py"

# Children of multiprocessing: their lines, and none of the library's.
cat >app/pool.py <<'end'
import multiprocessing
def work(size):
    made = bytearray(size)  # of a child
    return len(made)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(work, [500_009] * 4)))
end
profile "$PYTHON" app/pool.py
found=0
for file in profile.json profile.*.json; do
  [ -f "$file" ] || continue
  "$HEAPPROF_BIN" report --format json "$file" | jq -r '.devices[0].places[] | select(.largest_block_bytes == 500010) | "\(.function):\(.line)"' >got.txt
  [ ! -s got.txt ] || { expect_eq "a child's line" "$(cat got.txt)" "work:3"; found=$((found + 1)); }
done
[ $found -ge 1 ] || fail "no child's profile has the line"

# Real libraries.
if "$PYTHON" -c 'import numpy' 2>/dev/null; then
  printf '%s\n' 'import numpy as np' 'def load():' '    return np.ones((1003, 1009))' 'kept = load()' >app/arrays.py
  profile "$PYTHON" app/arrays.py
  expect_eq "an array" "$(place 8096216)" "load arrays.py:3"
  "$HEAPPROF_BIN" report --format json profile.json >report.json
  expect_eq "whose it is" "$(jq -r '.devices[0].packages[0].name' report.json)" numpy
  expect_eq "import numpy" "$(jq '[.devices[0].places[] | select(.function == "import numpy")] | length' report.json)" 1
  expect_eq "a leak of the import" "$(jq '[.devices[0].places[] | select(.function == "import numpy")
    | .leaked_bytes - (.suppressed_leaked_bytes // 0)] | add' report.json)" 0
else
  not_tried "numpy: python3-numpy is missing"
fi
if "$PYTHON" -c 'import torch' 2>/dev/null; then
  printf '%s\n' 'import torch' 'class Net(torch.nn.Module):' '    def forward(self, x):' '        return torch.relu(x * 2)' \
    'x = torch.ones(1009, 1013)' 'kept = Net()(x)' >app/tensors.py
  profile "$PYTHON" app/tensors.py
  expect_eq "tensors" "$(place 4088468)" "Net.forward tensors.py:4"
  expect_eq "import torch" "$("$HEAPPROF_BIN" report --format json profile.json |
    jq -r '[.devices[0].places[] | select(.function // "" | startswith("import "))] | sort_by(-.peak_bytes)[0].function')" "import torch"
else
  not_tried "PyTorch: python3-torch is missing"
fi
