# Each object of Python is recorded once, to the byte (run --python-objects): beside books of an allocator's wrapper, in
# threads, forked children and a process that is killed, on every Python of this machine; whatever allocator the
# interpreter is told to take, and where a program starts it again. Without the flag one line says what is in the
# arenas.
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
pythons=$(pythons)
oracle=$TARGETS/object_oracle.so

# objects FILE: how many, with how many bytes, and how many events were of none. Quicker than jq with a large file.
objects() {
  "$PYTHON" - "$1" <<'PY'
import json, sys
profile = json.load(open(sys.argv[1]))["heapprof"]
totals = [device["totals"] for device in profile["devices"] if device["name"] == "python"][0]
print(totals["total_count"], totals["total_bytes"], profile["counters"]["unmatched_device_events_count"])
PY
}

# expect_objects COUNT FILE WHOSE: more than COUNT, each with a beginning
expect_objects() {
  local count unmatched
  read -r count _ unmatched <<<"$(objects "$2")"
  [ "$count" -gt "$1" ] || fail "$3: sees $count objects"
  [ "$unmatched" = 0 ] || fail "$3: objects of no beginning: $unmatched"
}

can_run() { "$1" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; }

cat >work.py <<'PY'
import os
import sys
import threading


class Node:
    def __init__(self, value):
        self.value = value
        self.texts = [str(value)] * 3


def work(rounds):
    kept = []
    for i in range(rounds):
        kept.append(Node(i))
        kept[-1].texts.extend(range(i % 90))
        if i % 3 == 0:
            kept[i // 2] = bytes(i % 2000)
    return {i: node for i, node in enumerate(kept)}


what = sys.argv[1]
held = work(3000)
if what == "threads":
    threads = [threading.Thread(target=work, args=(2000,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
elif what == "fork":
    for _ in range(3):
        child = os.fork()
        if child == 0:
            held.clear()
            held = work(2000)
            os._exit(0)
        os.waitpid(child, 0)
elif what == "kill":
    others = [threading.Thread(target=work, args=(10**9,), daemon=True) for _ in range(3)]
    for other in others:
        other.start()
    held = work(3000)
    os.kill(os.getpid(), 9)
elif what == "huge":
    for i in range(1, 40):
        held[i] = "x" * (i * 100000)
        held[i] += "y" * i
    try:
        held["impossible"] = bytearray(2**60)
    except (MemoryError, OverflowError):
        pass
PY

tried=0
for python in $pythons; do
  can_run "$python" || continue
  tried=$((tried + 1))
  # What differs between versions shows in a quiet run and in one that is killed; the rest is tried with one of them.
  runs="threads kill"
  [ $tried -gt 1 ] || runs="threads fork kill huge"
  for what in $runs; do
    rm -f books.* r*.json
    OBJECT_ORACLE=$PWD/books LD_PRELOAD=$oracle "$HEAPPROF_BIN" run -q --python-objects -o 'r.%p.json' -- "$python" work.py $what || [ $what = kill ] ||
      fail "$python $what"
    "$PYTHON" "$SOURCE/tests/support/object_books.py" books r.*.json || fail "$python $what: the profile is not true"
  done

  [ $tried = 1 ] || [ -n "${HEAPPROF_LONG:-}" ] || continue
  # Whatever the interpreter takes below: the same objects, but for a few of the variable itself.
  rm -f r*.json same
  for allocator in default malloc debug; do
    PYTHONMALLOC=$allocator "$HEAPPROF_BIN" run -q --python-objects -o r.$allocator.json -- "$python" work.py plain || fail "$allocator"
    objects r.$allocator.json >>same
  done
  awk '{ for (i = 1; i <= 2; ++i) { if (NR == 1 || $i < least[i]) least[i] = $i; if ($i > most[i]) most[i] = $i } }
       END { exit !(NR == 3 && least[1] > 20000 && most[1] - least[1] < 40 && most[2] - least[2] < 4000) }' same || { cat same; fail "$python: allocators see other objects"; }
  "$HEAPPROF_BIN" run -q --python-objects -o dev.json -- "$python" -X dev work.py plain || fail "-X dev"
  expect_objects 20000 dev.json "$python -X dev"
  # A tracer in between: what it takes is seen, nothing is counted twice.
  "$HEAPPROF_BIN" run -q --python-objects -o trace.json -- "$python" -X tracemalloc work.py plain || fail "tracemalloc"
  expect_objects 20000 trace.json "$python -X tracemalloc"
done
[ $tried -gt 0 ] || fail "no Python was tried"

# The script's own lines have the objects, and the device is never summed with those that it lies in.
"$HEAPPROF_BIN" run -q --python-objects -o lines.json -- "$PYTHON" work.py plain || fail "lines"
"$HEAPPROF_BIN" report --device python lines.json >report.txt || fail "report"
expect_in report.txt "work.py:"
expect_in report.txt "Python objects, inside mapped and host: no new bytes"
"$HEAPPROF_BIN" report lines.json >whole.txt
expect_not_in whole.txt "arenas"
"$HEAPPROF_BIN" run -o plain.json -- "$PYTHON" work.py plain 2>summary.txt || fail "plain"
expect_said summary.txt "are arenas of Python's small objects: see inside with run --python-objects, or PYTHONMALLOC=malloc"
"$HEAPPROF_BIN" report plain.json >plain.txt
expect_said plain.txt "are arenas of Python's small objects:"
expect_eq "a device without the flag" "$(json plain.json '[.heapprof.devices[] | select(.name == "python")] | length')" 0

# Asked of itself, in a scope.
cat >asks.py <<'PY'
import heapprof
for _ in range(3): heapprof.stats("python")
one = heapprof.stats("python")
two = heapprof.stats("python")
block = bytes(1000)
three = heapprof.stats("python")
own = two.live_bytes - one.live_bytes
assert three.live_bytes - two.live_bytes - own == 1033, (one, two, three)
with heapprof.scope("objects"):
    held = [float(i) for i in range(5000)]
PY
PYTHONPATH=$SOURCE/shared/python "$HEAPPROF_BIN" run -q --python-objects -o asks.json -- "$PYTHON" asks.py || fail "asks"
json asks.json '.heapprof.scopes.scopes[] | select(.name == "objects") | .memory[] | select(.device == "python") | .allocated_count >= 5000' |
  grep -qx true || fail "the scope has no objects"

# A program that has Python inside, and starts it twice: what it takes back is found again, and nothing counts twice.
for library in /usr/lib/*/libpython3.*.so.1.0 "$HOME"/.pyenv/versions/3.*/lib/libpython3.*.so.1.0; do
  [ -e "$library" ] || continue
  version=$(basename "$library" | grep -o '3\.[0-9]*')
  case $version in 3.6 | 3.7) continue ;; esac
  home=/usr
  case $library in */.pyenv/*) home=${library%/lib/*} ;; esac
  rm -f r*.json
  PYTHONHOME=$home "$HEAPPROF_BIN" run -q --python-objects -o r.json -- "$TARGETS/python_embedded" "$library" "held = [float(i) for i in range(20000)]" 2 || fail "$library twice"
  expect_objects 40000 r.json "$library, started twice"
  rm -f books.* r*.json
  OBJECT_ORACLE=$PWD/books PYTHONHOME=$home "$HEAPPROF_BIN" run -q --python-objects -o r.json -- "$TARGETS/python_embedded" "$library" "held = [float(i) for i in range(20000)]" 1 "$oracle" || fail "$library"
  "$PYTHON" "$SOURCE/tests/support/object_books.py" books r.json || fail "$library: the profile is not true"
done

# Who is no Python has no such device, and nothing to say of it.
"$HEAPPROF_BIN" run -q --python-objects -o none.json -- "$TARGETS/leaky" || fail "no Python"
expect_eq "a device of a program without Python" "$(json none.json '[.heapprof.devices[] | select(.name == "python")] | length')" 0
