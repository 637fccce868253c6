# Nor are lost events "memory ok", or a profile that ends too soon.
with_leaky_profile p.json
jq -c '.heapprof.counters.lost_count = 12 | .heapprof.run.complete = false | .heapprof.run.incomplete_reason = "12 events lost"' p.json >lost.json
expect_status 3 check --max-peak 1GiB lost.json
expect_in err.txt "lost.json is incomplete: events lost: 12; its memory is not judged [HP153]"
head -c 2000 p.json >cut.json
expect_status 3 check --max-peak 1GiB cut.json
expect_status 3 check --max-peak 1GiB missing.json
