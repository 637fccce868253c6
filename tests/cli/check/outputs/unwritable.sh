# An output that cannot be written is said before the program starts, with 2, for 1 would say that it is over a limit.
with_leaky_profile p.json
expect_status 2 check --max-leaked 1MiB --junit no/such/folder/x.xml p.json  # 1 would say that it is over a limit
expect_status 2 check --max-leaked 1MiB --history no/such/folder/ci.jsonl p.json
expect_status 2 check --max-leaked 1MiB --history . p.json
expect_status 2 check --max-peak 1MiB --junit no/such/folder/x.xml -- sh -c 'touch was-run'
[ ! -e was-run ] || fail "the program ran although its result has no place to go"
