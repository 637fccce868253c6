# A handler that leaves by siglongjmp abandons what it interrupted: the agent goes on, and misses at most that one
# event.
profile "$TARGETS/signals" jump 500
expect_eq "exit status" "$status" 0
read -r main handler jumps <out.txt
expect_eq "jumps" "$jumps" "$handler"
expect_eq "lost events" "$(counter lost_count)" 0
expect_sum '^allocate_in_handler' "$((handler * 1237)) $handler 0 0"
read -r bytes blocks leaked_bytes leaked_blocks < <(leaf '^allocate_in_main')
[ "$blocks" -ge "$main" ] && [ "$blocks" -le $((main + jumps)) ] || fail "$blocks blocks, the target counted $main and was interrupted $jumps times"
[ "$leaked_blocks" -le "$jumps" ] || fail "$leaked_blocks blocks leak, $jumps jumps can explain $jumps"
