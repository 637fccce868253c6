# A program that limits its own address space is served as far as the limit goes, and nothing it got is missing.
profile "$TARGETS/address_limit" 64
expect_eq "exit status" "$status" 0
read -r threads large small <out.txt
"$TARGETS/address_limit" 64 >plain.txt
read -r plain_threads plain_large plain_small <plain.txt
expect_eq "threads" "$threads" "$plain_threads"
expect_eq "small blocks" "$small" "$plain_small"
[ "$large" -ge $((plain_large - 24)) ] || fail "$large blocks of 1 MiB under heapprof, $plain_large without"
expect_eq "lost events" "$(counter lost_count)" 0
read -r bytes blocks _ leaked < <(sum '^allocate_large')
expect_eq "large blocks" "$bytes $blocks $leaked" "$((large * 1048577)) $large $((large - large / 2))"
expect_eq "small blocks" "$(sum '^allocate_small' | cut -d' ' -f2)" $((small + threads))
