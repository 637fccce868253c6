# heapprof export: each format to a file and to a pipe, what is refused, and that nothing half-written is left.
export LC_ALL=C.UTF-8 COLUMNS=100
golden=$SOURCE/tests/golden
small=$golden/profile/small.json
valgrind=$golden/foreign/valgrind_heap.json

# To a file, with what to do next; to a pipe, the same bytes and no words.
for format in folded speedscope dhat pprof; do
  expect_status 0 "$HEAPPROF_BIN" export --format "$format" -o "x.$format" "$small"
  expect_eq "words on stdout with -o" "$(cat out.txt)" ""
  expect_in err.txt "saved  x.$format  for "
  "$HEAPPROF_BIN" export -q --format "$format" "$small" >piped 2>err.txt
  cmp "x.$format" piped || fail "$format: other bytes on a pipe than in a file"
  expect_eq "words of -q" "$(cat err.txt)" ""
done
expect_eq "dhat without a device" "$(cmp x.dhat "$small" && echo same)" same
expect_status 0 "$HEAPPROF_BIN" export --format folded -o x.folded "$small"
expect_in err.txt "next   flamegraph.pl --countname bytes x.folded >x.folded.svg"

# The sums are the profile's, for each metric and device.
folded_sum() { "$HEAPPROF_BIN" export -q --format folded --metric "$1" --device "$2" "$small" | awk '{ sum += $NF } END { print sum + 0 }'; }
for pair in peak:peak_bytes total:total_bytes leaked:leaked_bytes allocations:total_count temporary:temporary_count; do
  for device in host cuda:0; do
    expect_eq "${pair%%:*} of $device" "$(folded_sum "${pair%%:*}" $device)" \
      "$(jq ".heapprof.devices[] | select(.name == \"$device\") | .totals.${pair##*:}" "$small")"
  done
done
expect_eq "a speedscope profile for each metric of each device" "$(jq -c '[.profiles[].name]' x.speedscope)" \
  '["host peak","host total","host leaked","host allocations","host temporary","cuda:0 peak","cuda:0 total","cuda:0 leaked","cuda:0 allocations","cuda:0 temporary"]'

# A device's DHAT file is a profile again, of that device.
expect_status 0 "$HEAPPROF_BIN" export -q --format dhat --device cuda:0 -o gpu.json "$small"
expect_eq "its bytes" "$(jq '[.pps[].tb] | add' gpu.json)" 1048576
expect_status 0 "$HEAPPROF_BIN" report gpu.json
expect_in out.txt "PEAK cuda:0"
expect_not_in out.txt "host"

# Profiles of other tools.
expect_status 0 "$HEAPPROF_BIN" export --format folded "$valgrind"
expect_eq "valgrind's peak" "$(awk '{ sum += $NF } END { print sum }' out.txt)" "$(jq '[.pps[].gb] | add' "$valgrind")"
expect_status 0 "$HEAPPROF_BIN" export --format pprof -o v.pb.gz "$valgrind"

# pprof is no text for a terminal.
if have script; then
  script -qec "'$HEAPPROF_BIN' export --format pprof '$small'" /dev/null >tty.txt </dev/null && fail "binary on a terminal"
  expect_in tty.txt "[HP131]"
  script -qec "'$HEAPPROF_BIN' export --format folded '$small'" /dev/null >tty.txt </dev/null || fail "text on a terminal was refused"
  expect_in tty.txt "main;"
fi

refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
}
cp "$small" r.json
cp "$valgrind" v.json
refused 2 export r.json <<'WORDS'
heapprof: error: no format was named [HP130]
  fix:     add --format FORMAT; FORMAT is one of folded, speedscope, dhat, pprof
  instead: read it with heapprof's own means: heapprof report FILE
WORDS
refused 2 export --format dhat --metric peak r.json <<'WORDS'
heapprof: error: --format dhat takes no --metric: the file holds all of them [HP132]
  fix:     leave --metric out, and choose in the viewer
  instead: choose a format of one metric: --format folded
WORDS
refused 2 export --format folded --device cuda:7 r.json <<'WORDS'
heapprof: error: the profile has no device 'cuda:7', only host, cuda:0 [HP057]
  fix:     name one of them, or leave --device out
WORDS
expect_status 2 "$HEAPPROF_BIN" export --format folded --metric temporary v.json
expect_in err.txt "[HP067]"
expect_status 2 "$HEAPPROF_BIN" export --format svg r.json
expect_in err.txt "--format takes folded, speedscope, dhat or pprof, not 'svg' [HP052]"
expect_status 2 "$HEAPPROF_BIN" export --format folded
expect_in err.txt "[HP056]"
expect_status 3 "$HEAPPROF_BIN" export --format folded -o kept.txt missing.json
[ ! -e kept.txt ] || fail "something was written in spite of an error"
expect_status 1 "$HEAPPROF_BIN" export --format folded -o /nonexistent/x r.json
expect_in err.txt "[HP031]"
# A full disk behind stdout or -o is an error; what was there before stays.
expect_status 1 sh -c '"$1" export --format pprof r.json >/dev/full' - "$HEAPPROF_BIN"
expect_status 1 "$HEAPPROF_BIN" export --format speedscope -o /dev/full r.json
# A reader that goes away is no error.
"$HEAPPROF_BIN" export -q --format speedscope r.json | head -c 1 >/dev/null
expect_eq "status of export before a reader that went away" "${PIPESTATUS[0]}" 0
