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
