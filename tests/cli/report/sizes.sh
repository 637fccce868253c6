# report --sizes says below each place of what sizes its blocks were, JSON and CSV have them, and a file without them is
# not guessed at.
with_leaky_profile leaky.json
last_two() { tr , '\n' | tail -2 | paste -sd ,; }
expect_status 0 "$HEAPPROF_BIN" report --sizes --sort leaked leaky.json
expect_in out.txt "blocks of 1.21 KiB each"
expect_status 0 "$HEAPPROF_BIN" report --format json --sort leaked leaky.json
expect_eq "sizes in JSON" "$(jq -c '.devices[0].places[0] | [.smallest_block_bytes, .largest_block_bytes, .sizes]' out.txt)" \
  '[1235,1235,[{"at_most_bytes":4096,"allocations_count":5}]]'
expect_status 0 "$HEAPPROF_BIN" report --format csv --sort leaked leaky.json
expect_eq "columns of CSV" "$(head -1 out.txt | last_two)" smallest_block_bytes,largest_block_bytes
expect_eq "sizes in CSV" "$(sed -n 2p out.txt | last_two)" 1235,1235

jq -c 'del(.heapprof.devices[].sites["sized", "smallest_bytes", "largest_bytes"])' leaky.json >old.json
expect_status 0 "$HEAPPROF_BIN" report --sizes --sort leaked old.json
expect_in out.txt "sizes are not known"
expect_status 0 "$HEAPPROF_BIN" report --format csv --sort leaked old.json
expect_eq "unknown sizes in CSV" "$(sed -n 2p out.txt | last_two)" ,
expect_status 0 "$HEAPPROF_BIN" report --sizes "$foreign/valgrind_heap.json"
expect_in out.txt "sizes are not known"

expect_status 2 "$HEAPPROF_BIN" report --tree --sizes leaky.json
expect_in err.txt "--tree"
expect_in err.txt "--sizes"
