# On GitHub by itself: annotations, no more than ten of a kind, and the step's summary is added to.
cp "$small" small.json
export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/step.md
echo "from another step" >step.md
many=()
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do many+=(small.json); done
expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB "${many[@]}"
expect_eq "annotations" "$(grep -c '^::error ' out.txt)" 10
expect_in out.txt "::error title=heapprof::and 3 more; see the step's summary"
expect_eq "the other step's words" "$(head -1 step.md)" "from another step"
expect_eq "tables" "$(grep -c '^### heapprof: render[ 0-9]*: 1 of 1 limit exceeded' step.md)" 12
expect_status 0 "$HEAPPROF_BIN" check --max-peak 1KiB --warn-only small.json
expect_in out.txt "::warning title=heapprof render::host peak"
expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB --annotations none small.json
expect_not_in out.txt "::error"
