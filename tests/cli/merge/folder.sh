# A folder stands for its profiles; the sum in it is not counted again; gzip'd ones are.
with_profiles_to_merge
sum() { jq "[.pps[].$1] | add" "$2"; }
mkdir folder
cp a.json folder/1.json
gzip -c b.json >folder/2.json.gz
touch folder/notes.txt
for round in first second; do
  expect_status 0 "$HEAPPROF_BIN" merge -q -o folder/sum.json folder
  expect_eq "leaks, $round round" "$(sum eb folder/sum.json)" $((6175 * 2))
done
expect_eq "words of -q" "$(cat err.txt)" ""
