# flamegraph.pl draws the folded export: a box for each function with the profile's own numbers, no line left out.
flamegraph=
for place in "$(command -v flamegraph.pl || true)" "$(command -v flamegraph || true)" /usr/share/perl5/Devel/NYTProf/flamegraph.pl; do
  [ -n "$place" ] && [ -f "$place" ] && flamegraph=$place && break
done
[ -n "$flamegraph" ] || missing flamegraph "flamegraph.pl is not installed (apt-get install libdevel-nytprof-perl)"
have perl || skip "perl is not installed"

draw() { perl "$flamegraph" --countname bytes --minwidth 0 "$1" >"$1.svg" 2>"$1.err"; }
for kind in small hostile random; do
  "$BUILD/tests/make_profile" "$kind" >"$kind.json"
  for metric in peak total; do
    "$HEAPPROF_BIN" export -q --format folded --metric "$metric" -o "$kind.$metric" "$kind.json"
    draw "$kind.$metric"
    expect_eq "complaints about $kind.$metric" "$(cat "$kind.$metric.err")" ""
    "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$kind.$metric.svg" || fail "$kind.$metric.svg is no XML"
  done
done
# The root is the device's total, and a function's box has what its stacks sum to: 12,096 bytes by build_index, inlined
# push_back inside.
commas() { printf "%'d" "$1" | LC_ALL=C sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta'; }
for kind in small random; do
  expect_in "$kind.total.svg" "<title>all ($(commas "$(jq '[.pps[].tb] | add' "$kind.json")") bytes, 100%)</title>"
done
expect_in small.total.svg "<title>build_index (12,096 bytes, "
expect_in small.total.svg "<title>std::vector(int)::push_back (12,096 bytes, "
"$HEAPPROF_BIN" export -q --format folded --full-names --metric total -o small.full small.json
draw small.full
expect_in small.full.svg "<title>build_index(Scene const&amp;) (12,096 bytes, "
expect_in small.full.svg "<title>std::vector(int, std::allocator(int) )::push_back(int const&amp;) (12,096 bytes, "
# (It draws < as a parenthesis.) A ";" in a name does not make two boxes of one.
jq '.ftbl[2] |= sub("leak"; "<[u8; 16] as Trait>::make")' "$SOURCE/tests/golden/foreign/valgrind_heap.json" >rust.json
"$HEAPPROF_BIN" export -q --format folded -o rust.folded rust.json
grep -c 'u8\\x3b 16' rust.folded >/dev/null || { jq -c .ftbl rust.json >&2; fail "no name with ; was exported"; }
draw rust.folded
expect_in rust.folded.svg '[u8\x3b 16] as Trait'
