# Unknown commands and flags: the exact words, the exit status, nothing on stdout.
refused 2 reprot x.json <<'WORDS'
heapprof: error: unknown command: reprot; did you mean report? [HP055]
  fix:     see the commands: heapprof --help
  instead: to profile a program of that name: heapprof run -- reprot
WORDS
refused 2 --versoin <<'WORDS'
heapprof: error: unknown flag: --versoin; did you mean --version? [HP050]
  fix:     see the flags: heapprof --help
WORDS
refused 2 r.json <<'WORDS'
heapprof: error: 'r.json' is no command of heapprof [HP190]
  fix:     to read the profile: heapprof report r.json
  instead: see the commands: heapprof --help
WORDS
cp /bin/true 'my program'
refused 2 'my program' <<'WORDS'
heapprof: error: 'my program' is no command of heapprof [HP190]
  fix:     to profile the program: heapprof run './my program'
  instead: see the commands: heapprof --help
WORDS
expect_status 2 "$HEAPPROF_BIN" /bin/true
expect_in err.txt "heapprof run /bin/true"
expect_status 2 "$HEAPPROF_BIN" help reprot
expect_in err.txt "did you mean report? [HP055]"
