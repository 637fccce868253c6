# 1,000 children that ask for their arenas at one moment: each has its exact profile, and nobody is sent away.
profile "$TARGETS/forks_at_once" 1000
expect_eq "exit status" "$status" 0
expect_not_in err.txt HP070
expect_eq "profiles of children" "$(ls profile.[0-9]*.json | wc -l)" 1000
"$PYTHON" - <<'PY' || fail "a child's profile is not its own"
import glob, json
for path in glob.glob("profile.[0-9]*.json"):
    profile = json.load(open(path))
    sizes = [(p["tb"], p["tbk"], p["eb"]) for p in profile["pps"] if p["tb"] % 1237 == 0]
    sums = [sum(column) for column in zip(*sizes)]
    assert profile["heapprof"]["run"]["complete"] and sums == [6185, 5, 4948], (path, sums)
PY
