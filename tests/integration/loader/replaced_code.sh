# Code of a just-in-time compiler gives way to a library with the same code at the same address: from then on the
# library is named, in the thread that had called the other from the same place too. So is code of the library that ran
# before the loader could tell whose it is.
command -v g++ >/dev/null || skip "g++ is not installed"
g++ -O1 -g -shared -fPIC -fno-omit-frame-pointer -fno-plt "$SOURCE/tests/targets/loader/plugins/calls_through.cc" -o calls_through.so
profile "$TARGETS/replaced_code" "$PWD/calls_through.so"
expect_eq "exit status" "$status" 0
grep -q same out.txt || skip "the library came to lie elsewhere"
expect_eq "lost" "$(counter lost_count)" 0
expect_sum 'allocate\(\)' "247000 200 247000 200"
expect_sum 'allocate_late' "619500 500 619500 500"
expect_eq "callers of allocate_late" "$(stacks 'allocate_late' | grep -o ') < .* < main' | cut -d' ' -f3 | sort -u)" "call_through"
# The 100 of the other code, and one for each of seven loads.
expect_eq "stacks that are a guess" "$(counter truncated_stacks_count)" 107
[ "$(jq .heapprof.unwinder.whole_walks_count profile.json)" -lt 50 ] || fail "stacks through code that nothing describes are walked whole each time"
