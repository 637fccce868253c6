# A merged profile is compared with none that is not.
with_leaky_profile p.json
cp p.json q.json
"$HEAPPROF_BIN" merge -q -o twice.json p.json q.json
expect_status 2 check --baseline p.json twice.json
expect_in err.txt "or only one of the two is merged [HP157]"
