# The Python module tells a program its own numbers, to the byte, in threads and forked children too. Without the
# profiler it gives its plain answers.
export PYTHONPATH=$SOURCE/shared/python PYTHONDONTWRITEBYTECODE=1
cat >plain.py <<'PY'
import heapprof

assert heapprof.is_active() is False and heapprof.version() is None
assert heapprof.stats() is None and heapprof.stats("no such device") is None
assert heapprof.begin_phase("mapped") is None and heapprof.thread_stats() is None
with heapprof.scope("a", category="b") as scope:
    assert scope.items == 0
    scope.items = 7
assert scope.items == 7
heapprof.mark("c")
with heapprof.measure() as measured:
    pass
assert measured.peak_bytes is None and measured.explain() is None and measured.explain("kept") is None
def function(): pass
assert heapprof.scope("d")(function) is function
for wrong in (lambda: heapprof.stats(1), lambda: heapprof.scope(1), lambda: heapprof.mark("a", 1), lambda: heapprof.measure(7)):
    try:
        wrong()
    except TypeError:
        continue
    raise AssertionError("no TypeError")
print("plain")
PY
expect_status 0 "$PYTHON" -W error plain.py
expect_eq "what it says" "$(cat out.txt err.txt)" plain

cat >exact.py <<'PY'
import os
import sys
import threading

import heapprof

malloc = os.environ.get("PYTHONMALLOC") == "malloc"
assert heapprof.is_active() is True and heapprof.version() == sys.argv[1], heapprof.version()
SIZE = 10_000_000

# What stats() itself keeps, its result, is the same each time once the interpreter has what it makes at first calls.
for _ in range(3):
    heapprof.stats()
one = heapprof.stats()
two = heapprof.stats()
block = bytearray(SIZE)
three = heapprof.stats()
own = two.live_bytes - one.live_bytes
assert malloc or own == 0, own
# A byte more than was asked for; with PYTHONMALLOC=malloc the object that holds it is a block, too.
taken = sys.getsizeof(block) if malloc else SIZE + 1
assert three.live_bytes - two.live_bytes - own == taken, (one, two, three, taken)

# A phase begins with what is live, and knows the most since then.
begin = heapprof.begin_phase("host")
del block
middle = bytearray(3 * SIZE)
del middle
end = heapprof.stats("host")
assert end.phase_peak_bytes - begin.live_bytes >= 2 * SIZE, (begin, end)
assert end.phase_peak_bytes - begin.live_bytes < 2 * SIZE + 10_000, (begin, end)
assert end.peak_bytes == end.phase_peak_bytes and end.total_bytes - begin.total_bytes >= 3 * SIZE

# What a stretch took, and whose it was: the outer one's peak is the inner one's.
with heapprof.measure() as outer:
    with heapprof.measure("host") as inner:
        large = bytearray(3 * SIZE)
        del large
    kept = bytearray(SIZE)
assert inner.peak_bytes >= 3 * SIZE + 1 and outer.peak_bytes >= inner.peak_bytes, (inner.peak_bytes, outer.peak_bytes)
assert inner.kept_bytes < 2000 and SIZE < outer.kept_bytes < SIZE + 4000, (inner.kept_bytes, outer.kept_bytes)
assert outer.total_bytes >= 4 * SIZE + 2 and outer.total_blocks >= 2
peak = outer.explain("peak")
# With PYTHONMALLOC=malloc the object of a bytearray is a block beside its bytes.
assert peak.startswith("28.6 MiB in ") and "exact.py:" in peak, peak
assert outer.explain("kept").startswith("9.54 MiB in "), outer.explain("kept")
allocated = outer.explain("bytes")
assert allocated.startswith("28.6 MiB in ") and "\n9.54 MiB in " in allocated, allocated
try:
    outer.explain("all")
    raise AssertionError("no ValueError")
except ValueError:
    pass
try:
    with heapprof.measure("teapot"):
        pass
    raise AssertionError("no error")
except heapprof.UnknownDeviceError:
    pass
with heapprof.measure() as failing:  # an error of the body is the body's
    pass
try:
    with heapprof.measure("teapot"):
        raise KeyError
except KeyError:
    pass
del kept

# A thread knows what it took itself.
def work():
    before = heapprof.thread_stats()
    bytearray(SIZE)
    after = heapprof.thread_stats()
    numbers.append((after.total_bytes - before.total_bytes, after.freed_blocks - before.freed_blocks))
numbers = []
mine = heapprof.thread_stats()
thread = threading.Thread(target=work)
thread.start()
thread.join()
[(allocated, freed)] = numbers
assert SIZE < allocated < SIZE + 10_000 and freed >= 1, numbers
assert heapprof.thread_stats().total_bytes - mine.total_bytes < SIZE

# Many threads that ask at once get answers of their own.
def ask():
    for _ in range(20):
        got = heapprof.stats()
        assert got.total_bytes >= got.live_bytes
    answered.append(True)
answered = []
threads = [threading.Thread(target=ask) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(answered) == 16

# A mapping is on a device of its own.
import mmap
before = heapprof.stats("mapped")
area = mmap.mmap(-1, 1 << 20)
assert heapprof.stats("mapped").live_bytes - before.live_bytes == 1 << 20

for device, error in (("no such device", heapprof.UnknownDeviceError), (1, TypeError)):
    try:
        heapprof.stats(device)
    except error as caught:
        assert error is TypeError or device in str(caught)
    else:
        raise AssertionError("no error")

# A forked child has a profile and numbers of its own.
child = os.fork()
if child == 0:
    try:
        before = heapprof.stats()
        block = bytearray(SIZE)
        after = heapprof.stats()
        os._exit(0 if SIZE < after.live_bytes - before.live_bytes < SIZE + 10_000 else 3)
    except BaseException as error:
        print(error, file=sys.stderr)
    os._exit(4)
assert os.waitpid(child, 0)[1] == 0

# A scope that is used again takes no block: there are as many as for a with statement that does nothing.
class Nothing:
    def __enter__(self): return self
    def __exit__(self, kind, value, traceback): return None
def blocks_of(context):
    def loop():
        for _ in range(1000):
            with context:
                pass
    loop()
    before = heapprof.stats().total_blocks
    loop()
    return heapprof.stats().total_blocks - before
counts = blocks_of(Nothing()), blocks_of(heapprof.scope("scope"))
assert counts[1] - counts[0] < 100, counts  # not one for each
heapprof.mark("at the end")
print("exact")
PY
version=$(sed -n 's/^project(heapprof VERSION \([0-9.]*\).*/\1/p' "$SOURCE/CMakeLists.txt")
for allocator in pymalloc malloc; do
  export PYTHONMALLOC=$allocator
  profile "$PYTHON" -W error exact.py "$version"
  expect_eq "$allocator: exit status ($(tail -n 3 err.txt))" "$status" 0
  expect_in out.txt exact
  expect_complete
done
unset PYTHONMALLOC

# Nothing is left over in the sources.
if "$PYTHON" -m pyflakes --version >/dev/null 2>&1; then
  "$PYTHON" -m pyflakes "$SOURCE/shared/python/heapprof" >flakes.txt || fail "$(cat flakes.txt)"
else
  not_tried "unused names in the sources: pyflakes is not installed"
fi
