# heapprof history: what it shows of planted steps and drifts, what --add appends, and what is refused.
export LC_ALL=C.UTF-8 COLUMNS=100 TZ=UTC
unset GITHUB_SHA CI_COMMIT_SHA
small=$SOURCE/tests/golden/profile/small.json

# 30 runs: peak steps by 10 % at the 21st, total drifts by 0.3 % a run, allocations do nothing.
"$PYTHON" - >ci.jsonl <<'MAKE'
import json
for i in range(30):
    for device, factor in (("host", 1), ("cuda:0", 2)):
        record = {"version": 1, "time_unix_ns": (1795000000 + 3600 * i) * 10**9, "commit": f"{i:02x}" + 38 * "0", "name": "render-small",
                  "command": ["./render"], "device": device, "ok": i < 20,
                  "peak_bytes": factor * (104857600 + (10485760 if i >= 20 else 0)), "allocations_count": 1840212}
        if device == "host":
            record["total_bytes"] = 1 << 30 | i * 3 << 20
        print(json.dumps(record, separators=(",", ":")))
MAKE
expect_status 0 "$HEAPPROF_BIN" history ci.jsonl
cp out.txt shown.txt
cat >want.txt <<'WORDS'
ci.jsonl  60 records  2026-11-18 11:06 … 2026-11-19 16:06

render-small  host  30 runs, 10 beyond limits
                                        first      last     change           smallest   largest
  peak         ▁▁▁▁▁▁▁▁▁▁▁▁▁███████   100 MiB   110 MiB  +10.0 MiB  +10.0 %   100 MiB   110 MiB
  total        ▁▁▁▂▂▃▃▄▄▄▅▅▅▆▆▇▇███  1.00 GiB  1.08 GiB  +87.0 MiB   +8.5 %  1.00 GiB  1.08 GiB
  allocations  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁    1.84 M    1.84 M         ±0             1.84 M    1.84 M
  peak rose: 100 MiB → 110 MiB, +10.0 % at 140000000000, 2026-11-19 07:06, run 21 of 30
  total drifts up: 1.01 GiB → 1.08 GiB, +7.3 % over 30 runs, no single change over 0.3 %
    from 000000000000, 2026-11-18 11:06 to 1d0000000000, 2026-11-19 16:06

render-small  cuda:0  30 runs, 10 beyond limits
                                       first     last     change           smallest  largest
  peak         ▁▁▁▁▁▁▁▁▁▁▁▁▁███████  200 MiB  220 MiB  +20.0 MiB  +10.0 %   200 MiB  220 MiB
  allocations  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁   1.84 M   1.84 M         ±0             1.84 M   1.84 M
  peak rose: 200 MiB → 220 MiB, +10.0 % at 140000000000, 2026-11-19 07:06, run 21 of 30
WORDS
cmp -s want.txt out.txt || { diff want.txt out.txt >&2 || true; fail "another history"; }
expect_eq "words on stderr" "$(cat err.txt)" ""
expect_eq "widest line" "$(($(wc -L <out.txt) <= 100))" 1
COLUMNS=80 "$HEAPPROF_BIN" history ci.jsonl >narrow.txt
expect_not_in narrow.txt largest
expect_in narrow.txt "+10.0 MiB  +10.0 %"
LC_ALL=C "$HEAPPROF_BIN" history ci.jsonl >ascii.txt
expect_eq "ASCII where the locale is" "$(LC_ALL=C grep -c '[^ -~]' ascii.txt)" 0

# Filters, and JSON for scripts.
expect_status 0 "$HEAPPROF_BIN" history --format json --name 'render*' --device host --metric peak ci.jsonl
expect_eq "series" "$(jq -c '[.series[] | [.name, .device, .metric, .unit, .runs_count, .first, .last, .smallest, .largest]]' out.txt)" \
  '[["render-small","host","peak","bytes",30,104857600,115343360,104857600,115343360]]'
expect_eq "its verdicts" "$(jq -c '[.series[0].runs[] | select(.ok == false) | .value] | unique' out.txt)" "[115343360]"
expect_eq "its finding" "$(jq -c '.series[0].findings[0] | [.kind, .run, .before, .after, .confirmed, .commit]' out.txt)" \
  "[\"step\",20,104857600,115343360,true,\"14$(printf %038d 0)\"]"
expect_status 0 "$HEAPPROF_BIN" history --metric total --bytes ci.jsonl
expect_in out.txt "1,164,967,936 B"

# Lines that cannot be used are named; the others count.
{ sed -n 1,4p ci.jsonl; echo '{"version":9,"name":"x"}'; echo garbage; sed -n 5,60p ci.jsonl; head -c 50 <(sed -n 1p ci.jsonl); } >broken.jsonl
expect_status 0 "$HEAPPROF_BIN" history broken.jsonl
expect_in err.txt "warning: broken.jsonl line 5 is left out: it is of version 9, of a newer heapprof [HP134]"
expect_in err.txt "broken.jsonl line 6 is left out: "
expect_in err.txt "broken.jsonl line 63 is left out: it is cut off: "
expect_in out.txt "3 lines left out"
expect_eq "what is shown besides" "$(tail -n +2 out.txt)" "$(tail -n +2 shown.txt)"

# --add: an entry for each device; leaks that are known do not count; who says which commit.
expect_status 0 "$HEAPPROF_BIN" history --add --commit c0ffee new.jsonl "$small" "$SOURCE/tests/golden/foreign/valgrind_heap.json"
expect_in err.txt "added  3 records to new.jsonl, commit c0ffee"
expect_eq "records" "$(jq -c '[.name, .device, .commit, .peak_bytes, .leaked_bytes, .allocations_count, .temporary_count, .ok]' new.jsonl | head -n 2 | tr -d '\n')" \
  '["render","host","c0ffee",9312,1236,6,1,null]["render","cuda:0","c0ffee",1048576,1048576,1,0,null]'
expect_eq "no temporary of valgrind's" "$(tail -n 1 new.jsonl | jq -c '[has("peak_bytes"), has("temporary_count")]')" "[true,false]"
GITHUB_SHA=from-ci "$HEAPPROF_BIN" history -q --add --name nightly new.jsonl "$small"
expect_eq "by CI, under a name of its own" "$(tail -n 1 new.jsonl | jq -r '.commit + " " + .name')" "from-ci nightly"
if have git; then
  git init -q repo
  git -C repo -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m x
  (cd repo && "$HEAPPROF_BIN" history -q --add ../new.jsonl "$small")
  expect_eq "by git" "$(tail -n 1 new.jsonl | jq -r .commit)" "$(git -C repo rev-parse HEAD)"
fi
lines=$(wc -l <new.jsonl)
for i in 1 2 3 4 5 6 7 8; do "$HEAPPROF_BIN" history -q --add --commit "$i" new.jsonl "$small" & done
wait
expect_eq "lines after eight at the same time" "$(jq -c .version new.jsonl | wc -l)" "$((lines + 16))"
"$HEAPPROF_BIN" run -q -o leaky.json "$TARGETS/leaky"
"$HEAPPROF_BIN" history -q --add run.jsonl leaky.json
expect_eq "leaks of a real run" "$(jq .leaked_bytes run.jsonl)" 6175
: >empty.jsonl
expect_status 0 "$HEAPPROF_BIN" history empty.jsonl
expect_eq "an empty file" "$(cat out.txt)" "empty.jsonl  no records"

refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
}
refused 2 history <<'WORDS'
heapprof: error: no file of history was named [HP133]
  fix:     heapprof history FILE.jsonl
  instead: begin one: heapprof history --add FILE.jsonl PROFILE
WORDS
refused 2 history --name other ci.jsonl <<'WORDS'
heapprof: error: ci.jsonl has no records of name other [HP137]
  fix:     it has these: render-small on cuda:0, render-small on host
  instead: leave the filters out to see all
WORDS
refused 2 history --add ci.jsonl <<'WORDS'
heapprof: error: no profile was named to be added [HP138]
  fix:     heapprof history --add ci.jsonl PROFILE
  instead: to look at what is there: heapprof history ci.jsonl
WORDS
refused 3 history missing.jsonl <<'WORDS'
heapprof: error: the history missing.jsonl cannot be read: no such file or directory [HP135]
  fix:     check the path and its permissions: ls -l missing.jsonl
  instead: begin one: heapprof history --add missing.jsonl PROFILE
WORDS
expect_status 2 "$HEAPPROF_BIN" history ci.jsonl "$small"
expect_status 3 "$HEAPPROF_BIN" history --add unmade.jsonl missing.json
[ ! -e unmade.jsonl ] || fail "a history was made in spite of an error"
expect_status 1 "$HEAPPROF_BIN" history --add --commit x /nonexistent/x.jsonl "$small"
expect_in err.txt "[HP136]"
expect_status 1 "$HEAPPROF_BIN" history --add --commit x /dev/full "$small"

# A file without a line that can be read is no history.
printf '{"not": "an entry"}\nnor this\n' >none.jsonl
expect_status 3 "$HEAPPROF_BIN" history none.jsonl
