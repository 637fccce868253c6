# Files of budgets that cannot judge: the exact words.
with_leaky_profile p.json
printf 'version = 1\n[[budget]]\nname = "x"\ncommand = ["./other"]\npeak = "1 B"\n' >other.toml
refused 2 check --budget other.toml p.json <<'TEXT'
heapprof: error: other.toml has no budget for p.json, a profile of: ./leaky [HP149]
  fix:     say which one it is: --name BUDGET
  instead: give a budget the profile's command
TEXT
refused 2 check --budget other.toml --name y p.json <<'TEXT'
heapprof: error: no budget matches --name 'y', only x [HP150]
  fix:     name one of them
  instead: leave --name out: each profile is checked by the budget with its command
TEXT
sed -i 's/^peak.*/peek = 1/' other.toml
refused 2 check --budget other.toml <<'TEXT'
heapprof: error: other.toml, line 5: unknown key 'peek'; did you mean peak? [HP144]
  fix:     the keys here are peak, total, leaked, allocations, temporary, warn_at, tolerance, slack, runs, processes, name, command, baseline, message, site, scope, ignore
  instead: turn it into a comment: put # in front of it
TEXT
