# --follow=NAME: programs of other names are left out, and what they start is found all the same.
script="'$TARGETS/leaky'; sh -c \"'$TARGETS/forks' 2; true\"; true"
"$HEAPPROF_BIN" run --follow='for[k]*' -o profile.json -- sh -c "$script" >out.txt 2>err.txt || fail "exit status $?"
expect_eq "profiles" "$(ls profile*.json | wc -l)" 4
expect_eq "programs" "$(for f in profile*.json; do json $f .heapprof.run.executable; done | sort | uniq -c | awk '{print $1, $2}' | sed 's,/.*/,,' | sort)" "$(printf '%s\n' '1 dash' '3 forks' | sort)"
grep -oE '^[0-9]+$' out.txt >children.txt
while read -r child; do expect_sum '^allocate_in_child' "6185 5 4948 4" profile.$child.json; done <children.txt
expect_in err.txt "left out"

# Again with two names, and with one that matches nothing: the program itself is always in.
rm profile*
"$HEAPPROF_BIN" run -q --follow=forks --follow leaky -o profile.json -- sh -c "$script" >out.txt || fail "exit status $?"
expect_eq "profiles of two names" "$(ls profile*.json | wc -l)" 5
rm profile*
"$HEAPPROF_BIN" run -q --follow=nothing -o profile.json -- sh -c "$script" >out.txt || fail "exit status $?"
expect_eq "profiles" "$(ls profile*.json)" profile.json

# One that is left out is left alone, whatever it does: unloading libraries once led the agent to what it never had.
"$HEAPPROF_BIN" run -q --follow=nothing -o profile.json -- sh -c \
  "'$TARGETS/dlopen_again' '$TARGETS/plugin_alpha.so' '$TARGETS/plugin_beta.so' 5; exit \$?" >out.txt || fail "a program that was left out ended with $?"
