# Limits of a scope: of all its runs, of each run, of a device, and of calls; kept up to the last one.
record() { expect_status 0 "$HEAPPROF_BIN" run -q -o "$1.json" "$TARGETS/cuda_decode" "${@:2}"; }
record once 1
record often 17
budget() { printf 'version = 1\n[[budget]]\nname = "server"\n  [[budget.scope]]\n  path = "decode"\n  %s\n' "$1" >h.toml; }
judged() { expect_status "$1" check --budget h.toml --name server "$2"; tr -s ' ' <out.txt >words.txt; }

budget 'calls_per_run = { "synchronize stream" = 3 }'
judged 0 once.json
says words.txt <<'TEXT'
ok server decode: synchronize stream per run 1 limit 3 33 %
1 limit kept · profile once.json · heapprof report once.json
TEXT
judged 1 often.json
says words.txt <<'TEXT'
FAIL server decode: synchronize stream per run 17 limit 3 +14
1 of 1 limit exceeded · profile often.json · heapprof report often.json
TEXT

for limit in 'count = 5' 'count = { expect = "5 ± 0" }' 'calls = { "synchronize stream" = 85 }' 'calls_per_run = { "synchronize*" = 17 }' \
  'kernel_launches = 5' 'kernel_launches_per_run = "1.00"' 'calls_per_run = { "copy*" = 0 }'; do
  budget "$limit"
  judged 0 often.json
done
for limit in 'count = 4' 'count = { expect = "6 ± 0" }' 'calls = { "synchronize stream" = 84 }' 'calls_per_run = { "synchronize*" = "16.99" }' \
  'kernel_launches = 4' 'kernel_launches_per_run = "0.99"'; do
  budget "$limit"
  judged 1 often.json
done
expect_in words.txt "FAIL server decode: kernel launches per run 1 limit 0.99 +0.01"

# Memory, with that of the scopes inside: five runs of parse keep 1,000 bytes each, in one load.
expect_status 0 "$HEAPPROF_BIN" run -q -o work.json "$TARGETS/scope_work" 5 1000
memory() {
  printf 'version = 1\n[[budget]]\nname = "server"\n  [[budget.scope]]\n  path = "%s"\n  %s\n' "$1" "$2" >h.toml
  judged "$3" work.json
}
for limit in 'kept = 5_000' 'kept_per_run = { host = 5_000 }' 'allocated = "5000 B"' 'allocated_per_run = 5_000' 'blocks = 5' 'blocks_per_run = 5' \
  'peak = 5_000'; do
  memory load "$limit" 0
  memory load "$(sed 's/5_000/4_999/; s/5000/4999/; s/= 5$/= 4/' <<<"$limit")" 1
done
expect_in words.txt "FAIL server load: peak inside 5,000 B limit 4,999 B +1 B"
memory 'load > json: parse' 'kept_per_run = 1_000' 0
memory 'load > json: parse' 'kept_per_run = 999' 1
memory 'load > json: parse' 'blocks_per_run = "1.00"' 0
memory 'load > json: parse' 'blocks_per_run = "0.99"' 1
