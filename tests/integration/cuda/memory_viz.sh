# What PyTorch's viewer gets of a program whose allocator is like PyTorch's: segments, blocks and gaps are those of the
# allocator's own books, by address and size; from them each event leads back to a state that can be; and memory that
# no tensor lies in is there, too. Python's unpickler reads it, with the viewer's opcodes and no class.
have "$PYTHON" || skip "python3 is not installed"
export_viz() {  # OUT [FLAGS…]
  local out=$1
  shift
  "$HEAPPROF_BIN" export -q --format memory-viz -o "$out" "$@" profile.json || fail "no export"
}
replay() { "$PYTHON" "$SOURCE/tests/support/memory_viz.py" "$@" >replay.txt || { cat replay.txt >&2; fail "$*"; }; }
run_trace() {  # N PROGRAM…
  local most=$1 status=0
  shift
  "$HEAPPROF_BIN" run -q --device-trace "$most" -o profile.json -- "$@" >out.txt 2>err.txt || status=$?
  echo "$status"
}

# ---- all events ----
for seed in 2 1; do
  expect_eq "exit status" "$(run_trace 100000 "$TARGETS/cuda_tensors" 20 $seed blocks)" 0
  expect_complete
  export_viz all.pickle
  replay all.pickle out.txt cuda:0 cuda:1
  # Each tensor began and ended as often as the allocator says, and at the beginning there was nothing.
  expect_eq "at the beginning" "$(grep -c 'at the beginning 0 segments 0 blocks' replay.txt)" 2
  expect_eq "events left out" "$(json profile.json .heapprof.device_trace.older_events_count)" 0
  while read -r _ device _ count _ _ left; do
    got=$("$PYTHON" - "$device" <<'PY'
import pickle, sys
trace = pickle.load(open("all.pickle", "rb"))["device_traces"][int(sys.argv[1])]
count = {a: sum(e["action"] == a for e in trace) for a in ("alloc", "free_completed", "oom")}
print(count["alloc"], count["free_completed"], count["oom"])
PY
    )
    # On device 0 or 1 there is the one block that no tensor lies in, too: it begins, and never ends.
    other=$(awk -v n="$device" '$1 == "block" && $2 == n && $4 == 1000000' out.txt | wc -l)
    expect_eq "device $device: begins, ends, refusals" "$got" "$((count + other)) $((count - left)) $((device == 0))"
  done < <(grep '^tensors' out.txt)
  "$PYTHON" - <<'PY' || fail "the way to the scope, or the stack"
import pickle
snapshot = pickle.load(open("all.pickle", "rb"))
events = [e for trace in snapshot["device_traces"] for e in trace]
assert {e.get("user_metadata") for e in events} == {"train > step"}
allocs = [e for e in events if e["action"] == "alloc" and e["size"] != 1000000]
assert all(any("Allocator::allocate" in f["name"] and f["filename"].endswith("cuda_tensors.cc") for f in e["frames"]) for e in allocs)
oom = [e for e in events if e["action"] == "oom"]
assert oom[0]["size"] == 123 << 20
PY
done
"$HEAPPROF_BIN" export -q --format memory-viz profile.json >again.pickle
cmp all.pickle again.pickle || fail "the same profile gave other bytes"
export_viz one.pickle --device cuda:1
expect_eq "device traces with events" "$("$PYTHON" -c 'import pickle; print([len(t) > 0 for t in pickle.load(open("one.pickle", "rb"))["device_traces"]])')" "[False, True]"
# It is the same when the profile was read and written again.
"$HEAPPROF_BIN" export -q --format dhat -o again.json profile.json
cp profile.json first.json && cp again.json profile.json
export_viz again.pickle
cmp all.pickle again.pickle || fail "a profile that was read and written gave other bytes"

# ---- fewer events than there were: what began before is there from the beginning ----
for most in 1 7 1000; do
  expect_eq "exit status" "$(run_trace $most "$TARGETS/cuda_tensors" 20 1 blocks)" 0
  export_viz few.pickle
  replay few.pickle out.txt cuda:0 cuda:1
  expect_eq "events kept" "$(json profile.json '.heapprof.device_trace.events.action | length')" $most
done
# The events are the newest of all.
cp profile.json few.json
expect_eq "the newest events" "$(json few.json '.heapprof.device_trace | .older_events_count + (.events.action | length)')" "$(json first.json '.heapprof.device_trace.events.action | length')"

"$HEAPPROF_BIN" export --format memory-viz -o few.pickle few.json 2>err.txt || fail "no export"
expect_in err.txt "events before these are not in it: heapprof run --device-trace N keeps more"
"$HEAPPROF_BIN" export --format memory-viz -o first.pickle first.json 2>err.txt || fail "no export"
expect_not_in err.txt "not in it"

# ---- none ----
expect_eq "exit status" "$(run_trace 0 "$TARGETS/cuda_tensors" 20 1 blocks)" 0
expect_eq "a trace" "$(json profile.json .heapprof.device_trace)" null
expect_status 2 "$HEAPPROF_BIN" export --format memory-viz -o none.pickle profile.json
expect_in err.txt "[HP139]"
[ ! -e none.pickle ] || fail "a file was written"

# ---- a sum of profiles has none ----
"$HEAPPROF_BIN" merge -o sum.json first.json few.json >/dev/null 2>&1 || fail "no sum"
expect_status 2 "$HEAPPROF_BIN" export --format memory-viz -o none.pickle sum.json
expect_in err.txt "it is a sum of profiles [HP139]"

# ---- killed in the middle ----
expect_eq "exit status of the killed" "$(run_trace 100000 "$TARGETS/cuda_tensors" 20 3 kill)" 137
export_viz killed.pickle
replay killed.pickle out.txt cuda:0 cuda:1

# ---- the check itself: what is not the program's must be noticed ----
sed '0,/^block 0/s/^\(block 0 [0-9]*\) [0-9]*/\1 512513/' out.txt >wrong.txt
if "$PYTHON" "$SOURCE/tests/support/memory_viz.py" killed.pickle wrong.txt >said.txt; then fail "a block of another size was not noticed"; fi
expect_in said.txt "blocks that are not the program's"

# ---- memory of the driver without PyTorch ----
expect_eq "exit status" "$(run_trace 100000 "$TARGETS/cuda_rules")" 0
export_viz driver.pickle
: >none.txt
replay driver.pickle none.txt
