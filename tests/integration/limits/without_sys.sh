# Sandboxes (bwrap, Nix, Bazel, build chroots) often have no /sys: what cannot be read there says nothing about the
# machine, and the clock is the one that is taken with it.
have bwrap || skip "bwrap is not installed"
profile "$TARGETS/leaky"
expect_complete
clock=$(json profile.json .heapprof.coverage.clock)
[ "$clock" != sequence ] || skip "the kernel does not trust this machine's time stamp counter"
bwrap --dev-bind / / --tmpfs /sys true 2>/dev/null || skip "bwrap cannot make a sandbox here"
expect_status 0 bwrap --dev-bind / / --tmpfs /sys "$HEAPPROF_BIN" run -o bare.json -- "$TARGETS/leaky"
check_profile bare.json
expect_complete bare.json
expect_eq "the clock without /sys" "$(json bare.json .heapprof.coverage.clock)" "$clock"
expect_not_in err.txt HP042
