# Started with descriptors 0 to 2 closed, heapprof puts none of its own files there, and the program finds them closed.
for redirection in "<&-" ">&-" "2>&-" "<&- >&-" "<&- >&- 2>&-"; do
  eval "\"$TARGETS/lists_descriptors\" plain.txt $redirection" || fail "the program alone with $redirection"
  rm -f profile.json
  eval "\"$HEAPPROF_BIN\" run -o profile.json -- \"$TARGETS/lists_descriptors\" with.txt $redirection" >out.txt 2>err.txt || fail "heapprof with $redirection"
  expect_eq "open descriptors with $redirection" "$(cat with.txt)" "$(cat plain.txt)"
  check_profile profile.json
done

# What a line of ours on a closed stderr would go into: nothing.
"$HEAPPROF_BIN" run -o profile.json -- sh -c 'readlink /proc/$PPID/fd/2 >second.txt' 2>&- || fail "exit status"
expect_eq "what heapprof has as descriptor 2" "$(cat second.txt)" /dev/null
