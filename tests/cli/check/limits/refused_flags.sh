# Flags of heapprof check that mean nothing, or contradict each other: the exact words.
with_leaky_profile p.json
refused 2 check --max-peak 512M p.json <<'TEXT'
heapprof: error: ambiguous '512M': write 512MiB (536,870,912) or 512MB (512,000,000) [HP053]
  fix:     write the unit in full
  instead: give plain bytes, without a unit
TEXT
refused 2 check --max-peak cuda0=1MiB p.json <<'TEXT'
heapprof: error: --max-peak: the program used no device 'cuda0', only host [HP145]
  fix:     name one of them
  instead: if it may run without that device: put the limit under [defaults], where this is a warning
TEXT
refused 2 check <<'TEXT'
heapprof: error: there is nothing to check: no profile, no command, no budget [HP140]
  fix:     heapprof check --max-peak host=512MiB -- PROGRAM ARGUMENTS
  instead: check a profile that exists: heapprof check --max-peak host=512MiB FILE
TEXT
refused 2 check p.json <<'TEXT'
heapprof: error: no limit is set for p.json [HP141]
  fix:     set one: --max-peak host=512MiB, or --baseline FILE
  instead: write them into a file: heapprof check --budget heapprof.toml
TEXT
refused 2 check --runs 3 --max-peak 1B p.json <<'TEXT'
heapprof: error: --runs is for a command that heapprof check runs itself [HP160]
  fix:     name the command: heapprof check --runs 3 -- PROGRAM
  instead: leave --runs out: each profile is judged alone
TEXT
expect_status 2 check --max-peak 1B p.json -- ./leaky
expect_status 2 check --max-peak 1B --
expect_status 2 check --max-peak 1B --tolerance much p.json
expect_status 2 check --max-peak 1B --update-baseline p.json
expect_in err.txt "--update-baseline needs --baseline FILE too [HP159]"
