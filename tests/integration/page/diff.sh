# The page of a difference says what `heapprof diff` says: sentences, totals, places; of runs with shared marks too.
source "$SOURCE/tests/support/page/page_checks.sh"
"$BUILD/tests/make_profile" random 2000 >base.json
"$BUILD/tests/make_profile" random 2500 >current.json
"$BUILD/tests/make_profile" small >small.json
"$BUILD/tests/make_profile" hostile >hostile.json
for seed in 1 2; do "$HEAPPROF_BIN" run -q -o "ranges_$seed.json" -- "$TARGETS/ranges" $seed 2 $((seed + 4)) exit books.json; done
for pair in "base current" "current base" "small hostile" "ranges_1 ranges_2" "small small"; do
  read -r base current <<<"$pair"
  expect_status 0 "$HEAPPROF_BIN" diff --html "$base.$current.html" "$base.json" "$current.json"
  "$HEAPPROF_BIN" diff --format json "$base.json" "$current.json" >"$base.$current.json" 2>/dev/null
  browse diff.mjs "$base.$current.html" "$base.$current.json"
done
# The exit code is that of the text.
expect_status 1 "$HEAPPROF_BIN" diff --exit-code --html out.html small.json ranges_1.json
