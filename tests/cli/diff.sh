# heapprof diff: flags, exit codes, base runs, folders, and what it says about bad input.
export LC_ALL=C.UTF-8 COLUMNS=100
golden=$SOURCE/tests/golden
"$HEAPPROF_BIN" run -q -o a.json "$TARGETS/leaky"
cp a.json b.json
# The same with a larger peak and leak of its largest site.
grown() {
  jq -c --argjson more "$1" '.pps[0] |= (.tb += $more | .mb += $more | .gb += $more | .eb += $more) | .heapprof.devices[0] |=
    ((.totals | .total_bytes, .peak_bytes, .leaked_bytes) += $more |
     (.timeline | .min_bytes[], .max_bytes[]) |= if . > 0 then . + $more else . end)' "$2"
}
grown 100000 a.json >grown.json
expect_status 0 "$HEAPPROF_BIN" report grown.json

expect_status 0 "$HEAPPROF_BIN" diff a.json b.json
expect_in out.txt "no change: nothing differs by more than 1 % or 4.00 KiB."
expect_eq "warnings" "$(cat err.txt)" ""
expect_status 0 "$HEAPPROF_BIN" diff --exit-code a.json b.json
expect_status 0 "$HEAPPROF_BIN" diff a.json grown.json
expect_in out.txt "▲"
expect_in out.txt "+97.7 KiB"
expect_status 1 "$HEAPPROF_BIN" diff --exit-code a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code grown.json a.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --tolerance 10000% a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --sort allocations a.json grown.json
expect_status 1 "$HEAPPROF_BIN" diff --exit-code --sort leaked a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --bytes a.json grown.json
expect_in out.txt "+100,000 B"
expect_status 0 "$HEAPPROF_BIN" diff --format json a.json grown.json
expect_eq "JSON" "$(jq -c '[.grew, .devices[0].metrics.peak_bytes.change, ([.devices[0].places[].peak_bytes.change] | add), .devices[0].metrics.peak_bytes.beyond_tolerance]' out.txt)" "[true,100000,100000,true]"
expect_status 0 "$HEAPPROF_BIN" diff --format csv a.json grown.json
expect_eq "CSV" "$(python3 -c 'import csv; print([r["change"] for r in csv.DictReader(open("out.txt")) if r["metric"] == "peak_bytes"])')" "['100000', '100000']"
expect_status 0 "$HEAPPROF_BIN" diff --format markdown a.json grown.json
head -n 1 out.txt >first.txt
expect_in first.txt "**host peak grew"
# Leaks that are known are none.
printf 'module:leaky # all of it\n' >known.supp
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --sort leaked --suppressions known.supp a.json grown.json

# Several base runs, named or of a folder: their median, and their noise.
grown 500 a.json >a2.json
grown 30000 a.json >a3.json
expect_status 0 "$HEAPPROF_BIN" diff a.json a2.json a3.json grown.json
grep -qE '^base +a2\.json +median of 3 runs' out.txt || fail "not the median of the base runs: $(cat out.txt)"
expect_in out.txt "(3 base runs) in host peak."
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --tolerance 0% a.json a2.json grown.json a3.json
mkdir base
cp a.json a2.json a3.json base/
"$HEAPPROF_BIN" run -q -o base/other.json sort /dev/null
expect_status 0 "$HEAPPROF_BIN" diff base grown.json
grep -qE '^base +base/a2\.json +median of 3 runs' out.txt || fail "not the median of the command's runs: $(cat out.txt)"

# Folders: by command; what has no partner is named.
mkdir before after
cp a.json before/1.json
cp grown.json after/other-name.json
"$HEAPPROF_BIN" run -q -o before/gone.json sort /dev/null
expect_status 1 "$HEAPPROF_BIN" diff --exit-code before after
expect_in out.txt "leaky"
expect_in out.txt "×"
expect_in out.txt "1 of 1 grew, 0 fell, 0 did not change."
expect_in err.txt "no partner, so not compared: before/gone.json [HP125]"
expect_status 0 "$HEAPPROF_BIN" diff --format csv before after
expect_eq "rows" "$(wc -l <out.txt)" 6
expect_status 0 "$HEAPPROF_BIN" diff --format json before after
expect_eq "pairs" "$(jq -c '[.grew, (.pairs | length), .base_only, .current_only]' out.txt)" '[true,1,["before/gone.json"],[]]'

# Devices that one profile has, and other tools.
expect_status 0 "$HEAPPROF_BIN" diff a.json "$golden/profile/small.json"
expect_in out.txt "cuda:0 is in current only."
expect_in err.txt "[HP120]"
expect_status 0 "$HEAPPROF_BIN" diff "$golden/foreign/valgrind_heap.json" "$golden/foreign/valgrind_heap.json"
expect_in out.txt "no change"
expect_status 0 "$HEAPPROF_BIN" diff a.json "$golden/foreign/valgrind_heap.json"
expect_in err.txt "a.json is of heapprof, $golden/foreign/valgrind_heap.json of valgrind: they do not count the same [HP123]"

refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
}
refused 2 diff a.json <<'WORDS'
heapprof: error: two profiles are needed: what was before, and what is now [HP121]
  fix:     heapprof diff BASE CURRENT
  instead: look at one profile alone: heapprof report FILE
WORDS
refused 2 diff a.json before <<'WORDS'
heapprof: error: before is a folder, which is compared with a folder, not with a.json [HP124]
  fix:     name two folders, whose profiles are paired by command
  instead: name two profiles: heapprof diff BASE CURRENT
WORDS
mkdir nothing others
refused 2 diff nothing after <<'WORDS'
heapprof: error: there is no *.json or *.json.gz in nothing [HP083]
  fix:     look what is in it: ls -l nothing
  instead: name the profiles one by one
WORDS
cp before/gone.json others/sorted.json
refused 2 diff others after <<'WORDS'
heapprof: error: no command was profiled in both others and after [HP126]
  fix:     profile the same commands for both folders, or give files the same name
  instead: compare two of them: heapprof diff BASE CURRENT
WORDS
expect_status 2 "$HEAPPROF_BIN" diff others a.json
expect_in err.txt "[HP127]"
refused 2 diff --tolerance 3 a.json b.json <<'WORDS'
heapprof: error: --tolerance takes a percentage such as 3%, not '3' [HP052]
  fix:     give --tolerance another value, or leave it out
WORDS
refused 2 diff --device cuda:7 a.json b.json <<'WORDS'
heapprof: error: the profile has no device 'cuda:7', only host [HP057]
  fix:     name one of them, or leave --device out
WORDS
refused 3 diff a.json missing.json <<'WORDS'
heapprof: error: missing.json cannot be read: no such file or directory [HP060]
  fix:     look for it: ls -l missing.json
  instead: make a profile: heapprof run -o FILE -- PROGRAM
WORDS
expect_status 2 "$HEAPPROF_BIN" diff --sort temporary a.json "$golden/foreign/valgrind_heap.json"
expect_in err.txt "[HP067]"
head -c 2000 a.json >cut.json
expect_status 3 "$HEAPPROF_BIN" diff cut.json a.json
# An incomplete profile is compared all the same, and is an error.
jq -c '.heapprof.run |= (.complete = false | .incomplete_reason = "the collector detached at 37.2 s")' a.json >incomplete.json
refused 3 diff --exit-code incomplete.json grown.json <<'WORDS'
heapprof: error: incomplete.json is incomplete: the collector detached at 37.2 s [HP122]
  fix:     make it again: heapprof run -o incomplete.json -- PROGRAM
  instead: read its numbers as lower bounds: what the changes say may be wrong
WORDS
expect_in out.txt "+97.7 KiB"
