# The program that the demo profiles (examples/demo): its functions and lines are named, and its mistake is found to the
# block.
source_file=$SOURCE/examples/demo/words.cc
cp -r "$SOURCE/man" texts
profile "$BUILD/demo/words" texts
expect_eq "exit status" "$status" 0
expect_complete
# Three questions: three answers that nobody deletes, each with a vector of lines.
mistake=$(line_of "$source_file" "new Answer{word")
expect_eq "answers" "$(sum "ask \\(.*/words\\.cc:$mistake\\)")" "168 3 168 3"
lines=$(sed -n 's/.*; answers: \([0-9]*\) lines/\1/p' out.txt)
[ "$lines" -gt 3 ] || fail "the questions were not answered: $(cat out.txt)"
read -r _ _ _ blocks <<<"$(sum 'Index::ask')"
expect_eq "blocks that answers keep" "$blocks" "$((3 + 3 + lines))"
"$HEAPPROF_BIN" report profile.json >report.txt
grep -qE 'blocks  Index::ask  words\.cc:[0-9]' report.txt || fail "the report does not name the leak: $(cat report.txt)"
grep -qE 'split_lines +words\.cc:[0-9]' report.txt || fail "the report does not name what holds the texts: $(cat report.txt)"

# The README shows a run of it: the functions that it names are the program's.
grep -A 30 'heapprof run -o build/demo.json' "$SOURCE/README.md" | grep -oE '[A-Za-z_:]+ +words\.cc:[0-9]+' | sort -u >shown.txt
[ "$(wc -l <shown.txt)" -ge 3 ] || fail "README.md does not show the demo"
while read -r function place; do
  name=${function##*::}
  sed -n "${place#words.cc:}p" "$source_file" | grep -q . || fail "README.md shows $function at $place, where nothing is"
  grep -q "$name(" "$source_file" || fail "README.md shows $function, which $source_file does not have"
done <shown.txt
