# 500 short-lived children, each with its exact profile; fewer rows than that in the summary.
profile "$TARGETS/forks" 500
expect_eq "exit status" "$status" 0
expect_eq "children" "$(wc -l <out.txt)" 500
expect_sum '^allocate_in_parent' "3705 3 2470 2"
"$PYTHON" - <<'PY' || fail "a child's profile is not its own"
import json
for pid in open("out.txt").read().split():
    profile = json.load(open(f"profile.{pid}.json"))
    assert profile["pid"] == int(pid) and profile["heapprof"]["run"]["complete"], pid
    sizes = sorted((p["tb"], p["tbk"], p["eb"]) for p in profile["pps"] if p["tb"] % 1237 == 0)
    assert sum(s[0] for s in sizes) == 6185 and sum(s[1] for s in sizes) == 5 and sum(s[2] for s in sizes) == 4948, (pid, sizes)
    assert profile["heapprof"]["counters"]["lost_count"] == 0, pid
PY
expect_in err.txt "smaller"
expect_in err.txt "the largest of 500 others"

