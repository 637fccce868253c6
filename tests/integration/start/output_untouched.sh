# stdin, stdout and stderr of the program are its own, byte for byte.
head -c 300000 /dev/urandom >bytes
"$HEAPPROF_BIN" run -q -o profile.json -- cat <bytes >copy 2>err.txt
cmp bytes copy || fail "stdout of cat differs"
[ ! -s err.txt ] || fail "-q printed: $(cat err.txt)"
"$HEAPPROF_BIN" run -q -o profile.json -- sh -c 'cat >&2' <bytes 2>copy
cmp bytes copy || fail "stderr of cat differs"
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/leaky" >out.txt 2>err.txt
[ ! -s out.txt ] || fail "something was printed on stdout: $(cat out.txt)"
[ -s err.txt ] || fail "no summary on stderr"
# A closed stdout stays closed.
"$HEAPPROF_BIN" run -q -o profile.json -- sh -c 'echo x' >&- 2>err.txt && fail "echo wrote to a closed stdout"
expect_in err.txt "sh:"
