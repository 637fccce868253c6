# A table stays short enough for a comment of 64 KiB, and says what it left out.
cp "$small" small.json
stars=
for i in {1..600}; do
  stars+='*'
  printf '[[budget.site]]\nmatch = "build_index%s"\nallocations = 0\n' "$stars"
done >sites.txt
{ printf 'version = 1\n[[budget]]\nname = "many"\n'; cat sites.txt; } >many.toml
expect_status 1 "$HEAPPROF_BIN" check --budget many.toml --name many --annotations none -q --summary many.md small.json
[ "$(wc -c <many.md)" -lt 65536 ] || fail "$(wc -c <many.md) bytes of Markdown"
grep -qE '^… and [0-9]+ more$' many.md || fail "it does not say what was left out"
