# What does not add up, or has no place to go: the exact words, and nothing is written.
with_profiles_to_merge
cp "$foreign/valgrind_heap.json" v1.json
refused 2 merge -o no.json a.json v1.json <<'WORDS'
heapprof: error: a.json and v1.json do not add up: the first is of heapprof, the other of valgrind, and they do not count the same [HP084]
  fix:     merge those of one kind, each kind into a file of its own
  instead: look at each: heapprof report FILE
WORDS
refused 2 merge -o no.json <<'WORDS'
heapprof: error: no profiles were named [HP082]
  fix:     heapprof merge -o OUT FILE FILE
  instead: name the folder that they lie in
WORDS
refused 2 merge a.json <<'WORDS'
heapprof: error: heapprof merge needs an output file [HP086]
  fix:     heapprof merge -o OUT FILE FILE
WORDS
ln -s a.json link.json
refused 2 merge -o no.json a.json b.json link.json <<'WORDS'
heapprof: error: link.json is named twice: it would be counted twice [HP085]
  fix:     name it once
  instead: if you mean it: cp link.json copy.json, and name the copy
WORDS
mkdir nothing
refused 2 merge -o no.json nothing <<'WORDS'
heapprof: error: there is no *.json or *.json.gz in nothing [HP083]
  fix:     look what is in it: ls -l nothing
  instead: name the profiles one by one
WORDS
refused 2 merge -o a.json a.json b.json <<'WORDS'
heapprof: error: -o takes a file that is not merged into itself, not 'a.json' [HP052]
  fix:     give -o another value, or leave it out
WORDS
jq '.heapprof.version = 2' a.json >newer.json
expect_status 3 "$HEAPPROF_BIN" merge -o no.json a.json newer.json
expect_in err.txt "[HP063]"
expect_status 3 "$HEAPPROF_BIN" merge -o no.json a.json missing.json
expect_status 1 "$HEAPPROF_BIN" merge -o /nonexistent/no.json a.json b.json
[ ! -e no.json ] || fail "something was written in spite of an error"
