# What heapprof history does not take: the exact words, and nothing is made.
made history plant_history
cp "$small" mixed_up.json
refused 1 history --add mixed_up.json "$small" <<'WORDS'
heapprof: error: nothing was added to mixed_up.json: what it begins with is no history [HP344]
  fix:     name the file of history first, then profiles: heapprof history --add FILE.jsonl PROFILE
  instead: begin a new one, or see what this is: head -c 100 mixed_up.json
WORDS
cmp "$small" mixed_up.json || fail "something was added to a profile"
refused 2 history <<'WORDS'
heapprof: error: no file of history was named [HP133]
  fix:     heapprof history FILE.jsonl
  instead: begin one: heapprof history --add FILE.jsonl PROFILE
WORDS
refused 2 history --name other ci.jsonl <<'WORDS'
heapprof: error: ci.jsonl has no entries of name other [HP137]
  fix:     it has these: render-small on cuda:0, render-small on host
  instead: leave the filters out to see all
WORDS
refused 2 history --add ci.jsonl <<'WORDS'
heapprof: error: no profile was named to be added [HP138]
  fix:     heapprof history --add ci.jsonl PROFILE
  instead: to look at what is there: heapprof history ci.jsonl
WORDS
refused 3 history missing.jsonl <<'WORDS'
heapprof: error: the history missing.jsonl cannot be read: no such file or directory [HP135]
  fix:     check the path and its permissions: ls -l missing.jsonl
  instead: begin one: heapprof history --add missing.jsonl PROFILE
WORDS
expect_status 2 "$HEAPPROF_BIN" history ci.jsonl "$small"
expect_status 3 "$HEAPPROF_BIN" history --add unmade.jsonl missing.json
[ ! -e unmade.jsonl ] || fail "a history was made in spite of an error"
expect_status 1 "$HEAPPROF_BIN" history --add --commit x /nonexistent/x.jsonl "$small"
expect_in err.txt "[HP136]"
expect_status 1 "$HEAPPROF_BIN" history --add --commit x /dev/full "$small"
