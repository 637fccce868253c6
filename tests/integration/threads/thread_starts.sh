# The stack of a thread leads back to where the thread began, in pthread_create's library, and is not cut.
profile "$TARGETS/thread_starts"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^posix_start' "1235 1 1235 1"
expect_sum '^cxx_start' "1237 1 1237 1"
expect_sum '^small_start' "1239 1 1239 1"
expect_eq "the thread's own frames" "$(stacks '^posix_start' | cut -d' ' -f1-3)" "allocate_in_thread < posix_start"
outer=$(jq -r '.ftbl as $f | .pps[] | select(any(.fs[]; $f[.] | test(": posix_start"))) | $f[.fs[-1]]' profile.json)
case "$outer" in *libc.so*) ;; *start_thread*|*clone*) ;; *) fail "the outermost frame of a thread is '$outer'" ;; esac
expect_eq "threads" "$(json profile.json '[.heapprof.threads[] | select(.total_bytes > 0)] | length')" 4
