# On GitHub, the step's summary that is asked for too is added to once; without annotations it is added to as well.
cp "$small" small.json
export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/step.md
for annotations in github none; do
  echo "from another step" >step.md
  expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB --annotations $annotations --summary ./step.md small.json
  expect_eq "the other step's words, with annotations $annotations" "$(head -1 step.md)" "from another step"
  expect_eq "tables, with annotations $annotations" "$(grep -c '^### heapprof: render' step.md)" 1
done
