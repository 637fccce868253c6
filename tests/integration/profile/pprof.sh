# Go's pprof reads the export: what it says of each function is what the profile says, and names, lines and inlining are
# there.
have go || skip "Go's pprof is not installed (apt-get install golang-go)"
export HOME=$PWD GOFLAGS=-mod=mod GOTOOLCHAIN=local
go tool pprof -h >/dev/null 2>help.txt || grep -q sample_index help.txt || skip "this Go has no pprof: $(head -n 1 help.txt)"
top() { go tool pprof -top -nodecount=1000000 -nodefraction=0 -unit=B -sample_index="$1" "$2" 2>err.txt; }

profile "$TARGETS/inlined"
mv profile.json inlined.json
"$BUILD/tests/make_profile" random 3000 >random.json
"$BUILD/tests/make_profile" small >small.json
"$BUILD/tests/make_profile" hostile >hostile.json
"$BUILD/tests/make_profile" empty >empty.json
for name in inlined random small hostile empty; do
  "$HEAPPROF_BIN" export -q --format pprof -o "$name.pb.gz" "$name.json"
  go tool pprof -raw "$name.pb.gz" >"$name.raw" 2>err.txt || { cat err.txt >&2; fail "pprof refuses $name.pb.gz"; }
done
for name in inlined random; do
  for pair in peak_space:gb alloc_space:tb inuse_space:eb alloc_objects:tbk inuse_objects:ebk peak_objects:gbk; do
    top "${pair%%:*}" "$name.pb.gz" >top.txt || { cat err.txt >&2; fail "pprof -top of $name"; }
    "$PYTHON" "$SOURCE/tests/support/pprof_totals.py" "$name.json" "${pair##*:}" top.txt "$name.pb.gz" || fail "$name: another ${pair%%:*}"
  done
done

# The peak is shown first; lines are there; what is inlined is known to be.
go tool pprof -top small.pb.gz >top.txt 2>err.txt
expect_in top.txt "Type: peak_space"
expect_in top.txt "File: render"
expect_in top.txt "Build ID: c0ffee"
expect_in small.raw "build_index(Scene const&) /src/index.cc:212"
go tool pprof -top -nodefraction=0 inlined.pb.gz >top.txt 2>err.txt
expect_in top.txt "(inline)"
expect_not_in err.txt "symboliz"  # nothing was looked up

# What is listed first are functions of the program, as the report has them: the allocator is on every stack, and shown
# on none.
for name in inlined small; do
  go tool pprof -top -nodefraction=0 -unit=B -sample_index=alloc_space "$name.pb.gz" >top.txt 2>err.txt
  expect_not_in top.txt "operator new"
  expect_not_in top.txt " malloc"
done
"$HEAPPROF_BIN" report --format json --sort total inlined.json >report.json
expect_eq "the first function" "$(go tool pprof -top -unit=B -sample_index=alloc_space inlined.pb.gz 2>err.txt |
  awk '/flat%/ { getline; sub(/B$/, "", $1); print $1; exit }')" "$(jq '.devices[0].places[0].total_bytes' report.json)"
go tool pprof -tags -sample_index=alloc_space inlined.pb.gz >tags.txt 2>err.txt
expect_in tags.txt "device: Total"
go tool pprof -comments inlined.pb.gz >comments.txt 2>err.txt
expect_in comments.txt "thread "
