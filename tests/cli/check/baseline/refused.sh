# A baseline that is not there, or of another program: the exact words.
with_leaky_profile p.json
cp "$small" small.json
refused 2 check --baseline no.json p.json <<'TEXT'
heapprof: error: there is no baseline no.json [HP155]
  fix:     make it: the same command with --update-baseline
  instead: leave the baseline out: only the limits are checked
TEXT
refused 2 check --baseline small.json p.json <<'TEXT'
heapprof: error: the baseline small.json is of render, not of leaky [HP156]
  fix:     name the right one: --baseline FILE
  instead: replace it: the same command with --update-baseline
TEXT
