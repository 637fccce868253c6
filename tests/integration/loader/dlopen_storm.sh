# Libraries that come and go while threads allocate: no deadlock, no crash, every block at its function.
profile "$TARGETS/dlopen_storm" storm "$TARGETS/plugin_alpha.so" "$TARGETS/plugin_beta.so" 500 6
expect_eq "exit status" "$status" 0
expect_complete
made=$(cat out.txt)
expect_sum '^alpha_allocate' "617500 500 617500 500"
expect_sum '^beta_allocate' "618500 500 0 0"
expect_sum '^allocate_in_thread' "$((made * 1239)) $made 0 0"

# A program that loads libraries with static thread-local storage until there is no room for more gets as many as
# without us, but for what the agent's own 16 bytes take.
command -v gcc >/dev/null || skip "gcc is not installed: static thread-local storage was not tried"
mkdir tls
echo '__thread char space[96] __attribute__((tls_model("initial-exec"))); char* at(void) { return space; }' >tls.c
gcc -shared -fPIC -O1 -o tls/0.so tls.c
for i in $(seq 63); do cp tls/0.so tls/$i.so; done
plain=$("$TARGETS/dlopen_storm" static_tls tls)
[ "$plain" -lt 64 ] || skip "this loader's room for static thread-local storage has no end within 64 libraries"
profile "$TARGETS/dlopen_storm" static_tls tls
expect_eq "exit status" "$status" 0
[ "$(cat out.txt)" -ge $((plain - 1)) ] || fail "$(cat out.txt) libraries under heapprof, $plain without"
expect_sum '^allocate_in_thread' "1239000 1000 0 0"
