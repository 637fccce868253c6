# heapprof export: to a file, with what to do next; to a pipe, the same bytes and no words.
for format in folded speedscope dhat pprof perfetto dot sites; do
  expect_status 0 "$HEAPPROF_BIN" export --format "$format" -o "x.$format" "$small"
  expect_eq "words on stdout with -o" "$(cat out.txt)" ""
  expect_in err.txt "saved  x.$format  for "
  "$HEAPPROF_BIN" export -q --format "$format" "$small" >piped 2>err.txt
  cmp "x.$format" piped || fail "$format: other bytes on a pipe than in a file"
  expect_eq "words of -q" "$(cat err.txt)" ""
done
for format in sites perfetto; do
  expect_status 0 "$HEAPPROF_BIN" export --format "$format" -o "x.$format.gz" "$small"
  gzip -dc "x.$format.gz" | cmp - "x.$format" || fail "$format: other bytes in a file that is packed"
done
expect_eq "dhat without a device" "$(cmp x.dhat "$small" && echo same)" same
expect_status 0 "$HEAPPROF_BIN" export --format folded -o x.folded "$small"
expect_in err.txt "next   flamegraph.pl --countname bytes x.folded >x.folded.svg"
