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
for interval in 0 x 1ns 9ms 25h 1.5s 5 -1s 99999999999999999999s 5S 'marks '; do
  refused 125 run --interval="$interval" ls <<WORDS
heapprof: error: '$interval' is no interval between snapshots [HP200]
  fix:     write a time from 10ms to 24h, in whole ms, s, min or h: --interval 5s
  instead: take snapshots at the program's marks alone: --interval marks
WORDS
done
refused 125 run --interval= ls <<'WORDS'
heapprof: error: --interval needs a value [HP059]
  fix:     --interval TIME
WORDS
