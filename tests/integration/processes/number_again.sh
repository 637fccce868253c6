# A process that gets the number of the program that was started, when that has ended, is another one: each has its
# profile, and --wait sees its end.
unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespaces"
timeout 60 unshare --pid --fork --mount-proc --kill-child \
  "$HEAPPROF_BIN" run --wait --color never -o profile.json -- "$TARGETS/number_again" "$TARGETS/leaky" >out.txt 2>err.txt ||
  fail "run --wait: $?: $(cat err.txt)"
! grep -q refused out.txt || skip "no numbers of one's choice here (clone3)"
expect_in out.txt again
number=$("$PYTHON" -c 'import json; print(json.load(open("profile.json"))["pid"])')
check_profile profile.json "profile.$number.json"
expect_end exited 0
"$PYTHON" - "profile.$number.json" <<'P'
import json, sys
of = lambda file: json.load(open(file))["cmd"]
assert "number_again" in of("profile.json"), of("profile.json")
assert "number_again" not in of(sys.argv[1]) and "leaky" in of(sys.argv[1]), of(sys.argv[1])
P
expect_in err.txt "2 children"
