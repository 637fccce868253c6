# The committed page is what its sources give, below its size, with one place for the data, and asks for nothing.
page=$SOURCE/cli/page/built/page.html
size=$(stat -c %s "$page")
[ "$size" -le 150000 ] || fail "the page without data is $size bytes, more than 150,000"
expect_eq "places for the data" "$(grep -c '<!--heapprof:data-->' "$page")" 1
expect_in "$page" "default-src 'none'"
grep -qE "script-src 'sha256-[A-Za-z0-9+/=]{44}';" "$page" || fail "the policy does not name the page's own script"
# What it would fetch by itself. (A licence's address in a comment is none.)
if grep -oE '(src|href)="[^"]*"' "$page" >fetched.txt; then fail "the page names what a browser fetches: $(cat fetched.txt)"; fi

if "$SOURCE/scripts/page" --check >check.txt 2>&1; then
  expect_in check.txt "ok    cli/page/built/page.html"
else
  [ $? = 77 ] && missing page "$(tail -n 1 check.txt)"
  cat check.txt >&2
  fail "scripts/page --check"
fi
