# heapprof run: every error of ours is 125.
refused 125 run --tpo -- ls <<'WORDS'
heapprof: error: unknown flag: --tpo [HP050]
  fix:     see the flags: heapprof run --help
  instead: if it is the program's own flag, put it after the program
WORDS
refused 125 run -q <<'WORDS'
heapprof: error: no program to run was named [HP051]
  fix:     heapprof run -- PROGRAM ARGUMENTS
  instead: read a profile that exists: heapprof report FILE
WORDS
refused 125 run --on-full=maybe ls <<'WORDS'
heapprof: error: --on-full takes wait or drop, not 'maybe' [HP052]
  fix:     give --on-full another value, or leave it out
WORDS
