# What cannot be compared: the exact words.
with_grown_profile a.json
cp a.json b.json
mkdir before after
cp a.json before/1.json
cp grown.json after/other-name.json
"$HEAPPROF_BIN" run -q -o before/gone.json sort /dev/null
refused 2 diff a.json <<'WORDS'
heapprof: error: two profiles are needed: what was before, and what is now [HP121]
  fix:     heapprof diff BASE CURRENT
  instead: look at one profile alone: heapprof report FILE
WORDS
refused 2 diff a.json before <<'WORDS'
heapprof: error: before is a folder, which is compared with a folder, not with a.json [HP124]
  fix:     name two folders, whose profiles are paired by command
  instead: name two profiles: heapprof diff BASE CURRENT
WORDS
mkdir nothing others
refused 2 diff nothing after <<'WORDS'
heapprof: error: there is no *.json or *.json.gz in nothing [HP083]
  fix:     look what is in it: ls -l nothing
  instead: name the profiles one by one
WORDS
cp before/gone.json others/sorted.json
refused 2 diff others after <<'WORDS'
heapprof: error: no command was profiled in both others and after [HP126]
  fix:     profile the same commands for both folders, or give files the same name
  instead: compare two of them: heapprof diff BASE CURRENT
WORDS
expect_status 2 "$HEAPPROF_BIN" diff others a.json
expect_in err.txt "[HP127]"
refused 2 diff --tolerance 3 a.json b.json <<'WORDS'
heapprof: error: --tolerance takes a percentage such as 3%, not '3' [HP052]
  fix:     give --tolerance another value, or leave it out
WORDS
refused 2 diff --device cuda:7 a.json b.json <<'WORDS'
heapprof: error: the profile has no device 'cuda:7', only host [HP057]
  fix:     name one of them, or leave --device out
WORDS
refused 3 diff a.json missing.json <<'WORDS'
heapprof: error: missing.json cannot be read: no such file or directory [HP060]
  fix:     look for it: ls -l missing.json
  instead: make a profile: heapprof run -o FILE -- PROGRAM
WORDS
head -c 2000 a.json >cut.json
expect_status 3 "$HEAPPROF_BIN" diff cut.json a.json
