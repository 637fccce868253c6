# What cannot be named, or has nowhere to go: the exact words, and the file stays as it was.
with_leaky_profile a.json
cp a.json before.json
refused 2 symbolize <<'WORDS'
heapprof: error: no profile was named [HP056]
  fix:     heapprof symbolize FILE
  instead: make one: heapprof run -- PROGRAM
WORDS
refused 2 symbolize --debug-dir nothing a.json <<'WORDS'
heapprof: error: --debug-dir takes a folder that can be read, not 'nothing' [HP052]
  fix:     give --debug-dir another value, or leave it out
WORDS
refused 2 symbolize -o b.json a.json before.json <<'WORDS'
heapprof: error: 'before.json' is one argument too many [HP058]
  fix:     see the usage: heapprof symbolize -h
WORDS
cp "$foreign/valgrind_heap.json" dhat.out
refused 3 symbolize dhat.out <<'WORDS'
heapprof: error: dhat.out does not say where in which file its functions lie: it is of valgrind [HP096]
  fix:     profile the program again: heapprof run -o FILE -- PROGRAM
  instead: read it as it is: heapprof report dhat.out
WORDS
jq -c '.heapprof.modules = [] | del(.heapprof.frames)' a.json >old.json
jq -c '.ftbl |= map(sub(" \\(in .*"; ""))' old.json >older.json
refused 3 symbolize older.json <<'WORDS'
heapprof: error: older.json does not say where in which file its functions lie: it does not list the modules that were loaded [HP096]
  fix:     profile the program again: heapprof run -o FILE -- PROGRAM
  instead: read it as it is: heapprof report older.json
WORDS
mkfifo pipe
cat a.json >pipe &
expect_status 2 "$HEAPPROF_BIN" symbolize /dev/stdin <pipe
wait
expect_in err.txt "/dev/stdin needs -o OUT too"
expect_status 0 "$HEAPPROF_BIN" symbolize -q -o piped.json /dev/stdin <a.json
cmp piped.json a.json || fail "a profile from a pipe changed"
echo '{"dhatFileVersion": 2' >broken.json
expect_status 3 "$HEAPPROF_BIN" symbolize broken.json
expect_status 3 "$HEAPPROF_BIN" symbolize missing.json
cmp a.json before.json || fail "the profile changed"
