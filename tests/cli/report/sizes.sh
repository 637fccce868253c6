# report --sizes says of what sizes the places' blocks were, JSON and CSV have them, profiles of before have what they
# know, and nothing is guessed.
with_leaky_profile leaky.json
last_two() { tr , '\n' | tail -2 | paste -sd ,; }
expect_status 0 "$HEAPPROF_BIN" report --sizes --sort leaked leaky.json
expect_in out.txt "5 blocks of 1.21 KiB each"
expect_status 0 "$HEAPPROF_BIN" report --format json --sort leaked leaky.json
expect_eq "sizes in JSON" "$(jq -c '.devices[0].places[0] | [.smallest_block_bytes, .largest_block_bytes, .sizes]' out.txt)" \
  '[1235,1235,[{"at_least_bytes":1025,"at_most_bytes":2048,"allocations_count":5}]]'
expect_status 0 "$HEAPPROF_BIN" report --format csv --sort leaked leaky.json
expect_eq "columns of CSV" "$(head -1 out.txt | last_two)" smallest_block_bytes,largest_block_bytes
expect_eq "sizes in CSV" "$(sed -n 2p out.txt | last_two)" 1235,1235

jq -c 'del(.heapprof.devices[].sites["sized", "smallest_bytes", "largest_bytes"])' leaky.json >old.json
expect_status 0 "$HEAPPROF_BIN" report --sizes --sort leaked old.json
expect_in out.txt "1 to 2 KiB  ████████████████████████████████████████  5  100 %"
jq -c '.heapprof.devices[].sites |= (.sizes_count = [.block_sizes_count[] | if type == "number" then 4 else [4, .[1]] end] | del(.block_sizes_count))' \
  old.json >older.json
expect_status 0 "$HEAPPROF_BIN" report --sizes --sort leaked older.json
expect_in out.txt "1 to 4 KiB  ████████████████████████████████████████  5  100 %"
expect_status 0 "$HEAPPROF_BIN" report --format json --sort leaked older.json
expect_eq "sizes of before in JSON" "$(jq -c '.devices[0].places[0].sizes' out.txt)" \
  '[{"at_least_bytes":1025,"at_most_bytes":4096,"allocations_count":5}]'
expect_status 0 "$HEAPPROF_BIN" report --format csv --sort leaked old.json
expect_eq "unknown sizes in CSV" "$(sed -n 2p out.txt | last_two)" ,
expect_status 0 "$HEAPPROF_BIN" report --sizes "$foreign/valgrind_heap.json"
expect_in out.txt "sizes are not known"

for other in --tree --list-suppressions --findings; do
  expect_status 2 "$HEAPPROF_BIN" report "$other" --sizes leaky.json
  expect_in err.txt "$other"
  expect_in err.txt "--sizes"
done
