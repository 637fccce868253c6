# The page writes numbers as the tool does, at every edge where a digit or a unit changes.
source "$SOURCE/tests/support/page/page_checks.sh"
"$PAGE_TOOLS/node_modules/.bin/esbuild" "$SOURCE/cli/page/src/model/units.ts" --format=esm --outfile=units.mjs --log-level=error
browse units.mjs units.mjs "$SOURCE/tests/golden/units.txt"
cat browser.txt
