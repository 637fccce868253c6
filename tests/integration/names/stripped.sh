# A program without symbols still has module and offset at each frame, and two runs give the same text.
cp "$TARGETS/leaky" whole
strip -o stripped whole
profile ./stripped
expect_complete
total=$(json profile.json '[.pps[].tb] | add')
frames 'in .*/stripped\)' >first.txt
expect_in first.txt "??? (in "
cp profile.json first.json
profile ./stripped
jq -S '[.pps[] | {tb, tbk, eb, ebk, fs}], .ftbl' first.json >a.txt
jq -S '[.pps[] | {tb, tbk, eb, ebk, fs}], .ftbl' profile.json >b.txt
cmp a.txt b.txt || fail "two runs of one program differ: $(diff a.txt b.txt | head -5)"
# The same places as in the program with symbols.
profile ./whole
expect_eq "total bytes" "$(json profile.json '[.pps[].tb] | add')" "$total"
address() { jq -r '.ftbl[]' "$1" | grep -E "$2" | cut -d: -f1 | sort | tr '\n' ' '; }
expect_eq "addresses" "$(address first.json 'stripped\)$')" "$(address profile.json ' \((/.*leaky\.cc|.*keep\.h):|in .*/whole\)$')"
