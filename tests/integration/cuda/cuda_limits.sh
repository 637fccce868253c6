# A device that has no memory left, or has no more than --limit allows: who asked, who held it, and the numbers that the
# program sees.
"$TARGETS/cuda_limits" 1024 || fail "without heapprof: $?"
profile "$TARGETS/cuda_limits" 1024
expect_eq "exit status, without a limit" "$status" 0
refused() { jq -r --arg by "$1" "[.heapprof.devices[] | select(.name == \"cuda:0\") | .refusals[]? | .$1] | add // 0" profile.json; }
expect_eq "refusals by the driver" "$(refused refused_count)" 1
expect_eq "refusals by a limit that was not set" "$(refused by_limit_count)" 0

"$HEAPPROF_BIN" run --limit cuda:0=96MiB --color never -o profile.json -- "$TARGETS/cuda_limits" 96 all >out.txt 2>err.txt || fail "with a limit: $? $(cat out.txt err.txt)"
expect_in out.txt "as it should be"
jq -e '.heapprof.devices[] | select(.name == "cuda:0") |
  .limit_bytes == 96*1048576 and .totals.peak_bytes == 96*1048576 and
  .identity == {"uuid": "GPU-00102030-4050-6070-8090-a0b0c0d0e0f0", "pci_id": "0000:01:00.0", "product": "Fake GPU", "memory_bytes": 1073741824}' profile.json >/dev/null ||
  fail "limit, peak or identity: $(jq -c '.heapprof.devices[] | select(.name == "cuda:0") | [.limit_bytes, .totals.peak_bytes, .identity]' profile.json)"
# What the first attempt saw: the stack that asked, what was free, and who held the rest.
jq -e '.ftbl as $f | [.heapprof.devices[] | select(.name == "cuda:0") | .refusals[] |
  select(.size_bytes == 10485761)] | length == 1 and (.[0] |
  .refused_count == 1 and .by_limit_count == 1 and .free_bytes == 10485760 and .live_bytes == 90177536 and .live_count == 1 and
  ([.fs[] | $f[.]] | any(contains("ask_for_too_much"))) and
  (.holders | length == 1 and .[0].live_bytes == 90177536) and ([.holders[0].fs[] | $f[.]] | any(contains("hold_weights"))))' profile.json >/dev/null ||
  fail "the refusal: $(jq -c '[.heapprof.devices[] | .refusals[]?]' profile.json)"
expect_in err.txt "cuda:0 came to its limit of 96.0 MiB at"
expect_eq "refused by the driver, on a stream of cuda:1" "$(jq '[.heapprof.devices[] | select(.name == "cuda:1") | .refusals[] | .refused_count - .by_limit_count] | add' profile.json)" 1
"$HEAPPROF_BIN" run -q --limit cuda:0=96MiB -o few.json -- "$TARGETS/cuda_limits" 96 || fail "with a limit, few: $?"
"$HEAPPROF_BIN" report --color never few.json >report.txt
expect_in report.txt "Fake GPU, 1.00 GiB, limited to 96.0 MiB"
expect_said report.txt "10,485,761 B asked for, 10,485,760 B free; the program held 86.0 MiB"
grep -A3 "B asked for" report.txt | grep -q "held by .*hold_weights" || fail "$(cat report.txt)"

# What is no limit is said before anything runs.
for bad in cuda:0 cuda:16=1GiB cuda:x=1GiB gpu=1GiB cuda:0=512M cuda:0=0B; do
  "$HEAPPROF_BIN" run --limit "$bad" -- touch ran 2>err.txt && fail "accepted: $bad"
  expect_eq "exit code for $bad" "$?" 125
  [ -s err.txt ] && [ ! -e ran ] || fail "nothing said for $bad, or the program ran"
done

# Where a child meets the limit, the summary says so first, and of whom; and that of a device that nobody used changed
# nothing.
"$HEAPPROF_BIN" run --color never --limit cuda:0=96MiB --limit cuda:7=1GiB -o tree.json -- sh -c "$TARGETS/cuda_limits 96 all >/dev/null; true" 2>err.txt || fail "in a child: $? $(cat err.txt)"
grep -qE '^cuda:0 came to its limit of 96.0 MiB at' err.txt && grep -q '^the largest of 2 processes: ' err.txt || fail "$(cat err.txt)"
grep -qE '^ +[0-9.]+ [KM]?i?B( +[0-9.]+ [KM]iB)?  (cuda:1 97.0 MiB, )?cuda:0 96.0 MiB' err.txt || fail "$(cat err.txt)"
expect_in err.txt "no process used cuda:7: its limit changed nothing [HP112]"
child=$(ls tree.*.json)
"$HEAPPROF_BIN" check --max-peak cuda:0=1GiB "$child" >out.txt 2>err.txt || fail "check: $? $(cat out.txt err.txt)"
expect_in err.txt "[HP111]"
"$HEAPPROF_BIN" diff "$child" "$child" >out.txt 2>err.txt || fail "diff: $?"
expect_in err.txt "[HP111]"
expect_eq "refusals in JSON" "$("$HEAPPROF_BIN" report --format json "$child" | jq '[.devices[] | select(.name == "cuda:0") | .refusals[].refused_count] | add > 0')" true
