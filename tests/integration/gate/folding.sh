# Wrappers around the allocator hand their rows to their callers, in every command; what only looks like one keeps its
# rows; --all-frames undoes it, --fold and a line in a file add to it.
export LC_ALL=C.UTF-8 COLUMNS=100

# places [FLAGS…]: functions of the places of profile.json, the largest at the peak first, one a line
places() { "$HEAPPROF_BIN" report --format json "$@" profile.json | jq -r '.devices[0].places[].function'; }
place() { "$HEAPPROF_BIN" report --format json profile.json "${@:2}" | jq -r ".devices[0].places[] | select(.function == \"$1\") | \"\(.peak_bytes) \(.peak_blocks_count)\""; }
sums() { "$HEAPPROF_BIN" report --format json "$@" profile.json | jq -c '.devices[0].places | map([.peak_bytes, .total_bytes, .allocations_count]) | transpose | map(add)'; }

profile "$TARGETS/wrapped" wrapped
expect_complete
# 20 blocks of 100,000 bytes, and of 1,000 each eight callers' own sizes.
expect_eq "places" "$(places | paste -sd ' ')" \
  "read_config new_module keep_token note_type new_scope add_symbol parse open_table index_line index_word"
expect_eq "read_config" "$(place read_config)" "2000000 20"
expect_eq "new_module" "$(place new_module)" "264000 1000"
expect_eq "index_word" "$(place index_word)" "24000 1000"
expect_eq "what is folded" "$("$HEAPPROF_BIN" report --format json profile.json | jq -c .folded)" '["zmalloc","grab (recognised)"]'
expect_in err.txt "at the host peak  folded: zmalloc, grab (recognised) (--all-frames)"
expect_in err.txt "read_config"
expect_not_in err.txt "← read_config"
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "folded: zmalloc, grab (recognised) (--all-frames)"
"$HEAPPROF_BIN" report --tree profile.json >tree.txt
expect_in tree.txt "new_module"
expect_not_in tree.txt "grab  "
expect_in tree.txt "folded: zmalloc"

# The profile knows nothing of it: all frames stand in it, and nothing else.
expect_eq "zmalloc in the profile" "$(sum zmalloc | cut -d ' ' -f 1)" 2000000
expect_eq "no word of folding in the profile" "$(grep -c 'folded\|recognised' profile.json || true)" 0

# Undone: the wrappers themselves, with the same sums.
expect_eq "places undone" "$(places --all-frames | paste -sd ' ')" "zmalloc grab parse"
expect_eq "zmalloc" "$(place zmalloc --all-frames)" "2000000 20"
expect_eq "sums" "$(sums --all-frames)" "$(sums)"
expect_eq "nothing is folded" "$("$HEAPPROF_BIN" report --all-frames --format json profile.json | jq -c .folded)" null
"$HEAPPROF_BIN" report --all-frames profile.json >all.txt
expect_not_in all.txt "folded"
expect_status 0 "$HEAPPROF_BIN" run --all-frames -o again.json -- "$TARGETS/wrapped" wrapped
expect_in err.txt "← read_config"
expect_not_in err.txt "folded"

# More of them, by a flag and by a line in a file; the reason may be left out.
expect_eq "parse by a flag" "$(places --fold 'par*' | grep -c '^parse$' || true)" 0
expect_eq "its row is main's" "$(place main --fold 'par*')" "100000 1000"
printf 'fold function:parse file:wrapped.c\nfold function:new_* function_is_no_word:x\n' >broken.supp
expect_status 2 "$HEAPPROF_BIN" report --suppressions broken.supp profile.json
expect_in err.txt "broken.supp, line 2: 'function_is_no_word:x' is not function:GLOB"
printf '# ours\nfold function:parse file:wrapped.c   # a wrapper\nfold function:new_module\nfunction:main # kept\n' >my.supp
expect_eq "by a file" "$(place main --suppressions my.supp | paste -sd " ")" "264000 1000 100000 1000"
expect_status 0 "$HEAPPROF_BIN" run --fold parse -o again.json -- "$TARGETS/wrapped" wrapped
expect_in err.txt "folded: zmalloc, grab (recognised), parse (--all-frames)"
for line in "fold" "fold function:a <- function:b" "fold allocation <- function:b" "fold function:"; do
  echo "$line" >broken.supp
  expect_status 2 "$HEAPPROF_BIN" report --suppressions broken.supp profile.json
  expect_in err.txt "[HP081]"
  expect_in err.txt "write it like this: fold function:GLOB module:GLOB file:GLOB"
done
# What is folded is said below every table of places; what nothing matches, too.
"$HEAPPROF_BIN" report --sizes profile.json >sizes.txt
expect_in sizes.txt "folded: zmalloc, grab (recognised) (--all-frames)"
"$HEAPPROF_BIN" report --sizes --all-frames profile.json >sizes.txt
expect_not_in sizes.txt "folded"
expect_status 0 "$HEAPPROF_BIN" report --fold parse --fold 'no*such' profile.json
expect_in err.txt "nothing is folded by function:no*such: no function is called so [HP117]"
expect_eq "unused flags" "$(grep -c HP117 err.txt)" 1
expect_status 0 "$HEAPPROF_BIN" diff --fold parse --fold 'no*such' profile.json profile.json
expect_eq "unused flags of diff" "$(grep -c HP117 err.txt)" 1
printf 'fold function:parse\nfold function:gone file:gone.c\n' >my.supp
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp profile.json
expect_not_in err.txt "HP117"
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp --list-suppressions profile.json
expect_in err.txt "nothing is folded by function:gone file:gone.c"
expect_eq "unused lines" "$(grep -c HP117 err.txt)" 1
# A rule of a leak says what it said, whatever is folded.
profile "$TARGETS/wrapped" wrapped leave
expect_eq "of grab" "$(echo 'allocation <- function:grab  # ours' >a.supp; "$HEAPPROF_BIN" report --suppressions a.supp --format json profile.json | jq .devices[0].suppressed_leaked_bytes)" \
  992000

# Findings are about the callers.
profile "$TARGETS/wrapped" churn
expect_eq "findings" "$("$HEAPPROF_BIN" report --findings --format json profile.json | jq -r '"\(.folded[0]) \(.findings[] | "\(.kind) \(.function)")"')" \
  "zmalloc churn read_line"
expect_said err.txt "read_line (wrapped.c:"
"$HEAPPROF_BIN" report --findings profile.json >findings.txt
expect_in findings.txt "folded: zmalloc (--all-frames)"
expect_eq "findings undone" "$("$HEAPPROF_BIN" report --findings --all-frames --format json profile.json | jq -r '"\(.folded) \(.findings[0].function)"')" "null zmalloc"

# What is the answer stays the answer.
for twin in load push make_node build; do
  profile "$TARGETS/wrapped" $twin
  expect_eq "place of $twin" "$(places | head -n 1)" $twin
  expect_eq "what is folded of $twin" "$("$HEAPPROF_BIN" report --format json profile.json | jq -c .folded)" null
done

# Of two runs that are compared, one had too few blocks to recognise grab: both are folded alike.
GRABS=50 profile "$TARGETS/wrapped" wrapped
mv profile.json few.json
expect_eq "too few" "$("$HEAPPROF_BIN" report --format json few.json | jq -c .folded)" '["zmalloc"]'
profile "$TARGETS/wrapped" wrapped
"$HEAPPROF_BIN" diff few.json profile.json >diff.txt
expect_in diff.txt "new_module"
expect_not_in diff.txt "grab  "
expect_in diff.txt "folded: zmalloc, grab (recognised) (--all-frames)"
"$HEAPPROF_BIN" diff --all-frames few.json profile.json >diff.txt
expect_in diff.txt "grab"
expect_not_in diff.txt "new_module  "
"$HEAPPROF_BIN" diff --fold main --format json few.json profile.json | jq -e '.devices[0].places | map(.function) | index("new_module")' >/dev/null ||
  fail "new_module is no place of the diff"

# A budget that names a wrapper by hand holds as before, and blames the callers.
cat >budget.toml <<'TOML'
version = 1
[[budget]]
name = "wrapped"
command = ["wrapped", "wrapped"]
  [[budget.site]]
  match = "grab"
  peak = "500 KiB"
  [[budget.site]]
  match = "zmalloc"
  peak = "2 MiB"
TOML
expect_status 1 "$HEAPPROF_BIN" check --budget budget.toml profile.json
expect_in out.txt "1 of 2 limits exceeded"
expect_eq "who is to blame" "$(grep -c 'FAIL.*grab.*new_module 27 %' out.txt || true)" 1
expect_in out.txt "folded: zmalloc, grab (recognised) (--all-frames)"
expect_status 1 "$HEAPPROF_BIN" check --budget budget.toml --all-frames profile.json
expect_eq "who is to blame, undone" "$(grep -c 'FAIL.*wrapped.c:[0-9]* grab' out.txt || true)" 1
expect_not_in out.txt "folded"
# Who grew, against a baseline in which grab is not recognised by itself.
expect_status 1 "$HEAPPROF_BIN" check --baseline few.json profile.json
expect_in out.txt "new_module 27 %"
