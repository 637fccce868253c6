# A profile that exists is judged as the run was, and is not copied; --warn-only and -q.
with_leaky_profile p.json
expect_status 1 check --max-leaked 0B p.json
expect_in out.txt "1 of 1 limit exceeded · profile p.json"
expect_eq "copies" "$(ls *.json)" p.json
expect_status 0 check --max-leaked 0B --warn-only p.json
expect_in out.txt "warn  leaky  host live at exit"
expect_status 0 check --max-leaked 1MiB -q p.json
expect_eq "words of -q" "$(cat out.txt err.txt)" ""
# A peak one byte over a limit is not "7.24 KiB, limit 7.24 KiB".
peak=$(jq '[.pps[].gb] | add' p.json)
expect_status 1 check --max-peak "$((peak - 1))B" p.json
grouped() { sed -E 's/([0-9]{3})$/,\1/' <<<"$1"; }
expect_in out.txt "FAIL  leaky  host peak  $(grouped "$peak") B  limit $(grouped $((peak - 1))) B  +1 B"
