# The page of a profile shows in a browser what `heapprof report` says, in all devices, metrics and directions, without
# a request and without an error; all of it but a range can be reached by keys.
source "$SOURCE/tests/support/page/page_checks.sh"
"$BUILD/tests/make_profile" small >small.json
"$BUILD/tests/make_profile" random 3000 >random.json
"$HEAPPROF_BIN" run -q -o leaky.json -- "$TARGETS/leaky"
"$HEAPPROF_BIN" run -q -o tensors.json -- "$TARGETS/scopes" >/dev/null 2>&1 || true
files="small random leaky"
[ -f tensors.json ] && files+=" tensors"
for name in $files; do
  expect_status 0 "$HEAPPROF_BIN" report --html "$name.html" "$name.json"
  expect_in err.txt "saved  $name.html"
  [ ! -s out.txt ] || fail "report --html wrote on stdout"
  "$HEAPPROF_BIN" report --format json "$name.json" >"$name.report.json" 2>/dev/null
  for device in $(jq -r '.devices[].name' "$name.report.json"); do
    COLUMNS=300 "$HEAPPROF_BIN" report --device "$device" "$name.json" 2>/dev/null
  done >"$name.txt"
  browse report.mjs "$name.html" "$name.report.json" "$name.txt"
done
# The same profile gives the same page.
"$HEAPPROF_BIN" report --html again.html small.json 2>/dev/null
cmp small.html again.html || fail "two pages of one profile differ"
# `run` writes the page of what its summary is about, also where it says nothing.
"$HEAPPROF_BIN" run -q --html run.html -o run.json -- "$TARGETS/leaky"
"$HEAPPROF_BIN" report --html of_run.html run.json 2>/dev/null
cmp run.html of_run.html || fail "run --html and report --html differ"
