# An incomplete profile is compared all the same, and is an error.
with_grown_profile a.json
jq -c '.heapprof.run |= (.complete = false | .incomplete_reason = "the collector detached at 37.2 s")' a.json >incomplete.json
expect_status 3 "$HEAPPROF_BIN" diff --exit-code incomplete.json grown.json
says err.txt <<'WORDS'
heapprof: error: incomplete.json is incomplete: the collector detached at 37.2 s [HP122]
  fix:     make it again: heapprof run -o incomplete.json -- PROGRAM
  instead: read its numbers as lower bounds: what the changes say may be wrong
WORDS
expect_in out.txt "+97.7 KiB"
