# Which budget of a file judges: by --name, by its command, or the defaults where none is for the program.
with_leaky_profile p.json
cp "$TARGETS/leaky" "$TARGETS/exit_code" .
cp "$SOURCE/tests/cli/check/budget/leaks.toml" heapprof.toml
expect_status 0 check --budget heapprof.toml --name 'qui*'
expect_not_in out.txt "leaks"
expect_status 1 check --budget heapprof.toml p.json          # by its command
expect_in out.txt "FAIL  leaks"
expect_status 0 check --budget heapprof.toml --name quiet p.json   # because it is said
printf '\n[[budget]]\nname = "generous"\ncommand = ["leaky"]\nleaked = "1 GiB"\n' | cat - heapprof.toml >two.toml
sed -i '1,6{/^version/d}; 1i version = 1' two.toml
expect_status 1 check --budget two.toml p.json               # by each that has it, whichever stands first
expect_in out.txt "ok  generous"
expect_in out.txt "FAIL  leaks"
expect_status 1 check --budget two.toml -- ./leaky
expect_in out.txt "ok  generous"
expect_in out.txt "FAIL  leaks"
expect_status 0 check --budget heapprof.toml -- ./leaky more      # no budget: the defaults
expect_in out.txt "ok  leaky  host live at exit  6.03 KiB  limit 1.00 MiB"
expect_status 0 check --budget heapprof.toml --max-peak 1MiB --name quiet p.json
cat >>heapprof.toml <<'TOML'
  [[budget.ignore]]
  match = "main"
  reason = "tests leak"
TOML
expect_status 0 check --budget heapprof.toml --name quiet --max-leaked 0B p.json
