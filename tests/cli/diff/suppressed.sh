# Leaks that are known are none.
with_grown_profile a.json
printf 'module:leaky # all of it\n' >known.supp
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --sort leaked --suppressions known.supp a.json grown.json
