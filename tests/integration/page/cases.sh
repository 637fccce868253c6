# Pages of profiles that are empty, without stacks, hostile, merged, of Valgrind and of 50,000 sites; and pages that
# were cut short.
source "$SOURCE/tests/support/page/page_checks.sh"
for kind in empty no-stack hostile; do "$BUILD/tests/make_profile" $kind >$kind.json; done
"$BUILD/tests/make_profile" grouped 120000 >large.json
"$BUILD/tests/make_profile" rewrite "$SOURCE/tests/golden/foreign/valgrind_heap.json" >valgrind.json
cp "$SOURCE/tests/golden/foreign/valgrind_heap.json" foreign.json
"$BUILD/tests/make_profile" small >small.json
"$HEAPPROF_BIN" merge -q -o merged.json small.json hostile.json
# Names that would be markup, an address's end, or a script's, were they not text.
jq -c '.ftbl |= map(if . == "[root]" then . else sub(": [^ ]+"; ": </script><img src=x onerror=alert(1)><!--${alert(2)}") end) | .cmd = "</title><script>alert(3)</script>" | .heapprof.run.command = ["</script><script>alert(4)</script>", "\u202eevil"]' small.json >names.json
"$HEAPPROF_BIN" report names.json >/dev/null 2>&1 || true
for name in small empty no-stack hostile large valgrind foreign merged names; do
  "$HEAPPROF_BIN" report --html $name.html $name.json 2>/dev/null || { [ $name = names ] && [ $? = 3 ] && continue; fail "no page of $name"; }
done
expect_eq "an end of a script in the data" "$(grep -c '</script><' names.html)" 0
browse cases.mjs empty.html no-stack.html hostile.html large.html valgrind.html foreign.html merged.html names.html

# Cut short: in the middle of a block; a block that is damaged.
size=$(stat -c %s small.html)
head -c $((size - 2000)) small.html >cut.html
sed 's/id="0.tree">..../id="0.tree">AAAA/' small.html >damaged.html
cmp -s small.html damaged.html && fail "nothing was damaged"
browse broken.mjs damaged.html

# A page is written whole or not at all, and where it cannot be the old one stays.
echo old >kept.html
if "$HEAPPROF_BIN" report --html kept.html missing.json 2>err.txt; then fail "a page of no profile"; fi
expect_eq "the old file" "$(cat kept.html)" old
expect_status 1 "$HEAPPROF_BIN" report --html no/such/folder/page.html small.json
for flags in "--sort total" "--top 3" "--tree" "--sizes" "--threads" "--scopes" "--device host" "--format json" "--bytes" "--findings"; do
  # shellcheck disable=SC2086
  expect_status 2 "$HEAPPROF_BIN" report --html out.html $flags small.json
  expect_in err.txt "--html"
done
mkdir before after
cp small.json before; cp small.json after
expect_status 2 "$HEAPPROF_BIN" diff --html out.html before after
expect_in err.txt "HP245"
[ ! -e out.html ] || fail "a page was written where the call was wrong"
