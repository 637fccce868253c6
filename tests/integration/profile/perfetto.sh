# The export for Perfetto, read by a decoder that shares no code with the writer and follows what trace_processor does:
# every id is there, slices nest, and every number is the profile's. (Perfetto's own trace_processor is in no package.)
trace() { "$HEAPPROF_BIN" export -q --format perfetto -o "$1.pftrace" "$1.json"; }
same() { "$PYTHON" "$SOURCE/tests/support/perfetto.py" "$1.json" "${2:-$1.pftrace}" >"$1.txt" || fail "$1: the trace is not right"; }

for kind in small hostile empty no-stack 'random 3000'; do
  name=${kind%% *}
  # shellcheck disable=SC2086  # two words
  "$BUILD/tests/make_profile" $kind >"$name.json"
  trace "$name"
  same "$name"
done

# Scopes, marks and snapshots, of several threads; packed, it is the same trace.
"$HEAPPROF_BIN" run -q --interval 10ms -o snapshots.json -- "$TARGETS/snapshots" 1 2 20 exit books.txt
"$HEAPPROF_BIN" run -q -o scopes.json -- "$TARGETS/instances" 2 4 400 books.txt exit >out.txt
for name in snapshots scopes; do
  [ -f "$name.json" ] || fail "no profile of $name"
  trace "$name"
  same "$name"
  "$HEAPPROF_BIN" export -q --format perfetto -o "$name.gz" "$name.json"
  same "$name" "$name.gz"
done
grep -qE ' [1-9][0-9]* slices' scopes.txt || fail "no scope became a slice: $(cat scopes.txt)"
grep -qF 'host at snapshots' snapshots.txt || fail "no snapshots: $(cat snapshots.txt)"

# Of a sampled heap the interval is said.
"$HEAPPROF_BIN" run -q --sample 4KiB -o sampled.json -- "$TARGETS/leaky" >out.txt
trace sampled
same sampled
[ "$(json sampled.json .heapprof.sampling.interval_bytes)" -eq 4096 ] || fail "nothing was sampled"

# One device alone.
"$HEAPPROF_BIN" export -q --format perfetto --device cuda:0 -o gpu.pftrace small.json
"$HEAPPROF_BIN" export -q --format dhat --device cuda:0 -o gpu.json small.json
same gpu

# A sum of profiles has no timeline; other tools' profiles have neither that nor our extension.
"$HEAPPROF_BIN" merge -q -o merged.json small.json snapshots.json sampled.json
trace merged
same merged
expect_status 0 "$HEAPPROF_BIN" export --format perfetto -o merged.pftrace merged.json
expect_in err.txt "no counters"
cp "$SOURCE/tests/golden/foreign/valgrind_heap.json" valgrind.json
expect_status 0 "$HEAPPROF_BIN" export --format perfetto -o valgrind.pftrace valgrind.json
expect_in err.txt "time   is in instrs"

# Several are an archive with a manifest; a process id that comes again is on a machine of its own.
cp small.json again.json
mkdir other && cp small.json other/small.json
"$HEAPPROF_BIN" export -q --format perfetto -o all.tar small.json snapshots.json again.json other/small.json
"$PYTHON" "$SOURCE/tests/support/perfetto.py" --archive all.tar small.json snapshots.json again.json other/small.json >all.txt ||
  fail "the archive is not right"
expect_eq "the archive, as tar has it" "$(tar tf all.tar | paste -sd ' ')" \
  "perfetto_manifest.json small.pftrace snapshots.pftrace again.pftrace small.2.pftrace"

# The check itself: a byte that is another must be noticed, nearly wherever it is.
"$PYTHON" - <<'PY'
data = open("small.pftrace", "rb").read()
def write(name, at, byte):
    wrong = bytearray(data)
    wrong[at] = byte
    open(name, "wb").write(wrong)
at = data.rindex(b"host at the peak") + len(b"host at the peak") + 8
write("number.wrong", at, data[at] ^ 1)
write("boottime.wrong", data.index(b"\x08\x06\x10") + 1, 5)  # the last clock of the snapshot is another one
write("name.wrong", data.index(b"cuda_0") + 4, ord(":"))
PY
for name in number boottime name; do
  if "$PYTHON" "$SOURCE/tests/support/perfetto.py" small.json $name.wrong >wrong.txt 2>&1; then fail "a wrong $name was not noticed"; fi
done
if have protoc; then
  for name in small hostile scopes; do protoc --decode_raw <"$name.pftrace" >raw.txt 2>err.txt || fail "protoc refuses $name.pftrace"; done
else
  not_tried "protoc (apt-get install protobuf-compiler)"
fi
