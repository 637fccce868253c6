# A profile as the baseline: of a run, made by --update-baseline, in a folder.
with_leaky_profile p.json
cp "$TARGETS/leaky" .
expect_status 0 check --baseline p.json -- ./leaky
expect_in out.txt "ok  leaky  host total         10.9 KiB  baseline 10.9 KiB  ±0"
expect_status 0 check --baseline made/here/ --update-baseline p.json
expect_eq "words" "$(cat out.txt err.txt)" "saved  made/here/leaky.json  the baseline of leaky"
cmp p.json made/here/leaky.json || fail "the baseline is another profile"
expect_status 0 check --baseline made/here -- ./leaky
