# Nothing is wider than the terminal, whoever says it; and the summary of an ordinary run is one screen.
with_grown_profile leaky.json
plant_history
unset COLUMNS
mkdir folder_of_it && cp leaky.json folder_of_it/a_profile_of_it.json

# fits COLUMNS COMMAND…: no line of what it says is wider
fits() {
  local columns=$1
  shift
  on_terminal "$columns" said.txt "$@" || true
  states said.txt >states.txt
  screen said.txt >screen.txt
  [ -s screen.txt ] || fail "$* says nothing"
  [ "$(wc -L <states.txt)" -le "$columns" ] || fail "$* is wider than $columns columns: $(cat states.txt)"
}

for columns in 40 60 80 200; do
  fits $columns "$HEAPPROF_BIN" run -o run.json "$TARGETS/leaky"
  [ $columns -lt 80 ] || [ "$(wc -l <screen.txt)" -le 23 ] || fail "the summary is more than a screen: $(cat screen.txt)"
  fits $columns "$HEAPPROF_BIN" run -o run.json -- sh -c "'$TARGETS/leaky'; '$TARGETS/planted_churn'"
  fits $columns "$HEAPPROF_BIN" run -o run.json --limit cuda:3=1GiB "$TARGETS/leaky"  # a warning
  expect_in screen.txt "HP112"
  for view in "" --tree --sizes --threads --all-frames --findings "--sort leaked" --list-suppressions; do
    # shellcheck disable=SC2086
    fits $columns "$HEAPPROF_BIN" report $view leaky.json
    # shellcheck disable=SC2086
    fits $columns "$HEAPPROF_BIN" report $view "$small"
  done
  fits $columns "$HEAPPROF_BIN" diff leaky.json grown.json
  fits $columns "$HEAPPROF_BIN" diff leaky.json "$small"  # two programs: a warning
  fits $columns "$HEAPPROF_BIN" check --max-peak 1KiB --max-leaked 1KiB --max-allocations 100 --max-temporary 90% folder_of_it/a_profile_of_it.json
  expect_in screen.txt FAIL
  fits $columns "$HEAPPROF_BIN" check --max-peak 1KiB --baseline leaky.json grown.json
  fits $columns "$HEAPPROF_BIN" check --contracts "$SOURCE/tests/cli/contracts/all.toml"
  fits $columns "$HEAPPROF_BIN" history ci.jsonl
  fits $columns "$HEAPPROF_BIN" doctor
  fits $columns "$HEAPPROF_BIN" estimate attention --batch 8 --heads 32 --seq 4096 --head-dim 128 --dtype f16 --limit 24GiB --reserve 1GiB
  fits $columns "$HEAPPROF_BIN" estimate kv-cache --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192 --page-size 16 --dtype fp8 --limit 1GiB
  fits $columns env LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" "$HEAPPROF_BIN" estimate weights 7B --dtype f64 --device cuda:0 --reserve 1GiB
  fits $columns "$HEAPPROF_BIN" merge -o sum.json leaky.json grown.json
done
