# A script is profiled as its interpreter; `env` and a shell in between lead to the program.
printf '#!/bin/sh\nexec "$@"\n' >wrapper
chmod +x wrapper
profile ./wrapper "$TARGETS/leaky"
expect_eq "exit status" "$status" 0
expect_sum '^leak_blocks' "6175 5 6175 5"
[ -f profile.exec1.json ] || fail "the shell's own profile is missing: $(ls)"
profile env A=1 "$TARGETS/leaky"
expect_sum '^leak_blocks' "6175 5 6175 5"
