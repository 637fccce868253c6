# What stays say of a moment is what a snapshot of that moment says, of each site of the heap, of mapped pages that go
# piece by piece, of Python's objects, and of a CUDA device and the tensors in it; of a killed program too.
for plan in "1 2 exit" "2 8 exit" "3 4 KILL"; do
  read -r seed threads how <<<"$plan"
  "$HEAPPROF_BIN" run -q --interval marks -o "heap_$seed.json" -- "$TARGETS/snapshots" "$seed" "$threads" 20 "$how" books.txt >/dev/null || [ "$how" = KILL ] || fail "snapshots $plan"
done
"$HEAPPROF_BIN" run -q --interval 10ms -o cuda.json -- "$TARGETS/cuda_tensors" 20 1 >/dev/null
cat >pages.py <<'PYTHON'
import ctypes, random, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
random.seed(7)
pieces = []
kept = []
for i in range(400):
    pages = random.randint(1, 40)
    start = libc.mmap(None, pages * 4096, 3, 0x22, -1, 0)
    pieces += [start + 4096 * page for page in range(pages)]
    random.shuffle(pieces)
    for _ in range(random.randint(0, 40)):
        if pieces:
            libc.munmap(pieces.pop(), 4096)
    kept.append([str(n) for n in range(random.randint(0, 500))])
    if i % 3 == 0:
        kept.pop(random.randrange(len(kept)))
    time.sleep(0.001)
PYTHON
python=/usr/bin/python3
[ -x $python ] || python=python3
"$HEAPPROF_BIN" run -q --interval 20ms --python-objects -o pages.json -- $python pages.py
"$PYTHON" "$SOURCE/tests/support/stays_at_snapshots.py" heap_*.json cuda.json pages.json
jq -e '[.heapprof.devices[].name] | index("mapped")' pages.json >/dev/null || fail "no mapped pages"

# The check itself: a block too many must be noticed.
jq -c '.heapprof.devices[0].sites.stays |= map(.[-1] += 1)' heap_1.json >wrong.json
if "$PYTHON" "$SOURCE/tests/support/stays_at_snapshots.py" wrong.json >wrong.txt; then fail "a wrong number was not noticed"; fi
