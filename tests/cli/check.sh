# heapprof check: limits by flags and by a file, exit codes that tell a limit from a crash, and the words of mistakes.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$TARGETS/leaky" "$TARGETS/exit_code" "$TARGETS/raises" .
check() { "$HEAPPROF_BIN" check "$@"; }
says() { cat >want.txt; cmp -s want.txt "$1" || { diff want.txt "$1" >&2 || true; fail "other words in $1"; }; }

# ---- exit codes ----
expect_status 0 check --max-peak host=1MiB --max-leaked 8KiB -- ./leaky
expect_eq "stderr" "$(cat err.txt)" ""
says out.txt <<'TEXT'
ok  leaky  host peak    7.24 KiB  limit 1.00 MiB  1 %
ok  leaky  host leaked  6.03 KiB  limit 8.00 KiB  75 %
2 limits kept
TEXT
expect_eq "profiles kept without need" "$(ls *.json 2>/dev/null)" ""

expect_status 1 check --max-peak 1MiB --max-leaked host=0B --max-allocations 8 --max-temporary 0% -- ./leaky
leaking=$(line_of "$SOURCE/tests/targets/leaky.cc" 'malloc(')
expect_in out.txt "ok    leaky  host peak         7.24 KiB  limit 1.00 MiB  1 %"
expect_in out.txt "FAIL  leaky  host leaked       6.03 KiB  limit 0 B       +6.03 KiB"
expect_in out.txt "FAIL  leaky  host allocations         9  limit 8         +1"
expect_in out.txt " of 4 limits exceeded · profile heapprof.check.leaky.json · heapprof report heapprof.check.leaky.json"
grep -q "FAIL  leaky  host leaked .*leaky.cc:[0-9]* [a-z_]*" out.txt || fail "the culprit is not named: $(cat out.txt)"
"$HEAPPROF_BIN" report heapprof.check.leaky.json >report.txt || fail "the kept profile cannot be read"

# The profile that exists is judged as the run was, and is not copied.
mv heapprof.check.leaky.json p.json
expect_status 1 check --max-leaked 0B p.json
expect_in out.txt "1 of 1 limit exceeded · profile p.json"
expect_eq "copies" "$(ls *.json)" p.json
expect_status 0 check --max-leaked 0B --warn-only p.json
expect_in out.txt "warn  leaky  host leaked"
expect_status 0 check --max-leaked 1MiB -q p.json
expect_eq "words of -q" "$(cat out.txt err.txt)" ""

# A baseline of a program that failed says nothing, nor does a history of it; a terminal that is full is not "ok".
jq ".heapprof.run.status = 7" p.json >crashed.json
expect_status 3 check --max-leaked 1MiB --baseline crashed.json p.json
"$HEAPPROF_BIN" history --add ci.jsonl crashed.json 2>/dev/null && fail "a failed run is in the history"
check --max-leaked 1MiB p.json >/dev/full 2>err.txt && fail "0 though nothing could be said"
expect_status 2 check --max-leaked 1MiB --history . p.json
rm -f crashed.json
# What an update would break is left as it is.
printf 'version = 1\n[[budget]]\nname = "leaky"\ncommand = ["./leaky"]\nleaked = { host = 0x10 }\n' >hex.toml
cp hex.toml before.toml
expect_status 2 check --budget hex.toml --update-budget
cmp hex.toml before.toml || fail "a broken budget was written"
rm -f hex.toml before.toml heapprof.check.leaky.json
# A file with budgets of which none is for the program.
printf 'version = 1\n[defaults]\nleaked = { host = "1 MiB" }\n[[budget]]\nname = "other"\ncommand = ["./leaky", "x"]\n' >other.toml
expect_status 0 check --budget other.toml p.json
expect_in err.txt "no budget of other.toml is for ./leaky: its defaults apply [HP163]"
rm -f other.toml

# A line of history for each device that was judged, with the verdict; none for what cannot be judged.
expect_status 0 check --max-leaked 1MiB --history ci.jsonl --commit c0ffee p.json
expect_status 1 check --max-leaked 0B --history ci.jsonl --commit beef p.json
expect_status 4 check --max-peak 1GiB --history ci.jsonl -- ./exit_code 7
expect_eq "history" "$(jq -r '[.commit, .name, .device, .ok, .leaked_bytes] | map(tostring) | join(" ")' ci.jsonl | tr '\n' ';')" \
  "c0ffee leaky host true 6175;beef leaky host false 6175;"
"$HEAPPROF_BIN" history --color never ci.jsonl >history.txt || fail "the history cannot be read"
expect_in history.txt "leaky  host  2 runs"
expect_status 2 check --max-leaked 1MiB --junit no/such/folder/x.xml p.json  # 1 would say that it is over a limit
expect_status 2 check --max-leaked 1MiB --history no/such/folder/ci.jsonl p.json
rm -f ci.jsonl heapprof.check.exit_code.json

# A crash is never "memory ok", with --warn-only neither.
expect_status 4 check --max-peak 1GiB --warn-only -- ./exit_code 7
expect_in err.txt "./exit_code failed: exit 7; its memory is not judged [HP152]"
expect_in out.txt "FAIL  exit_code  the program failed: exit 7; its memory is not judged · profile heapprof.check.exit_code.json"
expect_not_in out.txt "ok"
expect_status 4 check --max-peak 1GiB heapprof.check.exit_code.json
expect_status 4 check --max-peak 1GiB --runs 3 -- sh -c 'kill -SEGV $$'
expect_in err.txt "sh failed: killed by SIGSEGV"
expect_status 3 check --max-peak 1GiB -- ./no-such-program
expect_in err.txt "no such program: ./no-such-program [HP001]"
expect_in err.txt "no profile of ./no-such-program was made [HP154]"

# Nor are lost events, or a profile that ends too soon.
jq -c '.heapprof.counters.lost_count = 12 | .heapprof.run.complete = false | .heapprof.run.incomplete_reason = "12 events lost"' p.json >lost.json
expect_status 3 check --max-peak 1GiB lost.json
expect_in err.txt "lost.json is incomplete: events lost: 12; its memory is not judged [HP153]"
head -c 2000 p.json >cut.json
expect_status 3 check --max-peak 1GiB cut.json
expect_status 3 check --max-peak 1GiB missing.json
# The worst of several counts.
expect_status 3 check --max-peak 1GiB p.json lost.json
expect_in out.txt "1 limit kept · profile p.json"
expect_status 4 check --max-peak 1B heapprof.check.exit_code.json p.json lost.json

# ---- devices, shares, runs ----
cp "$SOURCE/tests/golden/profile/small.json" small.json
expect_status 1 check --max-peak 1MiB --max-peak cuda:0=1KiB -q small.json
expect_in out.txt "FAIL  render  cuda:0 peak  1.00 MiB  limit 1.00 KiB"
expect_not_in out.txt "host peak"
expect_status 0 check --max-peak 1MiB --runs 3 -o kept.json -- ./leaky
expect_in out.txt "1 limit kept · median of 3 runs · profile kept.json"
expect_status 0 check --max-peak 1MiB -- sh -c 'sleep 0; :'
expect_in err.txt "1 process that the program started was not judged: only the program itself is [HP161]"

# What another tool, or a child's profile, does not know is said.
cp "$SOURCE/tests/golden/foreign/valgrind_heap.json" valgrind.json
expect_status 0 check --max-total 1GiB valgrind.json
expect_in out.txt "1 limit kept · how the program ended is not known · profile valgrind.json"
expect_status 2 check --max-temporary 5 valgrind.json

# ---- a file of budgets ----
cat >heapprof.toml <<'TOML'
version = 1
[defaults]
leaked = "1 MiB"
warn_at = "50 %"
[[budget]]
name = "leaks"
command = ["./leaky"]
peak = { host = "10 KiB" }
allocations = { host = { expect = "9 ± 0" } }
message = "ask before raising this"
  [[budget.site]]
  file = "leaky.cc"
  leaked = 0
[[budget]]
name = "quiet"
command = ["./exit_code", "0"]
peak = "1 MiB"
TOML
expect_status 1 check --budget heapprof.toml
expect_in out.txt "warn  leaks  host peak"
expect_in out.txt "ok    leaks  host allocations         9  expected 9"
expect_in out.txt "ok    leaks  host leaked       6.03 KiB  limit 1.00 MiB"
expect_in out.txt "FAIL  leaks  leaky.cc leaked   6.03 KiB  limit 0 B"
expect_in out.txt "ask before raising this"
expect_in out.txt "ok  quiet  host peak"
expect_status 0 check --budget heapprof.toml --name 'qui*'
expect_not_in out.txt "leaks"
expect_status 1 check --budget heapprof.toml p.json          # by its command
expect_in out.txt "FAIL  leaks"
expect_status 0 check --budget heapprof.toml --name quiet p.json   # because it is said
expect_status 0 check --budget heapprof.toml -- ./leaky more      # no budget: the defaults
expect_in out.txt "ok  leaky  host leaked  6.03 KiB  limit 1.00 MiB"
expect_status 0 check --budget heapprof.toml --max-peak 1MiB --name quiet p.json
cat >>heapprof.toml <<'TOML'
  [[budget.ignore]]
  match = "main"
  reason = "tests leak"
TOML
expect_status 0 check --budget heapprof.toml --name quiet --max-leaked 0B p.json

# ---- baselines ----
expect_status 0 check --baseline p.json -- ./leaky
expect_in out.txt "ok  leaky  host total        10.9 KiB  baseline 10.9 KiB  ±0"
expect_status 0 check --baseline made/here/ --update-baseline p.json
expect_eq "words" "$(cat out.txt err.txt)" "saved  made/here/leaky.json  the baseline of leaky"
cmp p.json made/here/leaky.json || fail "the baseline is another profile"
expect_status 0 check --baseline made/here -- ./leaky
cp p.json q.json
"$HEAPPROF_BIN" merge -q -o twice.json p.json q.json
expect_status 2 check --baseline p.json twice.json
expect_in err.txt "or only one of the two is merged [HP157]"
expect_status 4 check --baseline none.json --update-baseline heapprof.check.exit_code.json
[ ! -e none.json ] || fail "a failed program became a baseline"
expect_status 2 check --max-peak 1B --update-baseline p.json
expect_in err.txt "--update-baseline needs --baseline FILE too [HP159]"
mkdir base && cp p.json base/leaks.json
expect_status 1 check --budget heapprof.toml --name leaks --baseline base p.json
expect_in out.txt "baseline 7.24 KiB"

# ---- --update-budget: values change, everything else stays ----
cat >up.toml <<'TOML'
version = 1
[defaults]
temporary = "1 %"  # others' too
[[budget]]
name = "leaks"
peak = { host = "1 KiB" }   # größer: why
allocations = 8  # and this
leaked = "1 MiB"
TOML
chmod 640 up.toml
expect_status 1 check --budget up.toml --name leaks --update-budget p.json
expect_in err.txt "saved  up.toml  2 limits raised"
expect_in out.txt "ok    leaks  host peak         7.24 KiB  limit 7.32 KiB"
expect_in out.txt "FAIL  leaks  host temporary"
cat >want.toml <<'TOML'
version = 1
[defaults]
temporary = "1 %"  # others' too
[[budget]]
name = "leaks"
peak = { host = "7.32 KiB" }   # größer: why
allocations = 9  # and this
leaked = "1 MiB"
TOML
cmp want.toml up.toml || fail "another budget: $(cat up.toml)"
expect_eq "mode" "$(stat -c %a up.toml)" 640
expect_status 1 check --budget up.toml --name leaks --update-budget p.json
expect_eq "words when there is nothing to raise" "$(cat err.txt)" ""
cmp want.toml up.toml || fail "a budget that needed nothing changed"

refused() { local status=$1; shift; expect_status "$status" check "$@"; says err.txt; }
refused 2 --max-peak 512M p.json <<'TEXT'
heapprof: error: ambiguous '512M': write 512MiB (536,870,912) or 512MB (512,000,000) [HP053]
  fix:     write the unit in full
  instead: give plain bytes, without a unit
TEXT
refused 2 --max-peak cuda0=1MiB p.json <<'TEXT'
heapprof: error: --max-peak: the program used no device 'cuda0', only host [HP145]
  fix:     name one of them
  instead: if it may run without that device: put the limit under [defaults], where this is a warning
TEXT
refused 2 --baseline no.json p.json <<'TEXT'
heapprof: error: there is no baseline no.json [HP155]
  fix:     make it: the same command with --update-baseline
  instead: leave the baseline out: only the limits are checked
TEXT
refused 2 --baseline small.json p.json <<'TEXT'
heapprof: error: the baseline small.json is of render, not of leaky [HP156]
  fix:     name the right one: --baseline FILE
  instead: replace it: the same command with --update-baseline
TEXT
refused 2 <<'TEXT'
heapprof: error: there is nothing to check: no profile, no command, no budget [HP140]
  fix:     heapprof check --max-peak host=512MiB -- PROGRAM ARGUMENTS
  instead: check a profile that exists: heapprof check --max-peak host=512MiB FILE
TEXT
refused 2 p.json <<'TEXT'
heapprof: error: no limit is set for p.json [HP141]
  fix:     set one: --max-peak host=512MiB, or --baseline FILE
  instead: write them into a file: heapprof check --budget heapprof.toml
TEXT
printf 'version = 1\n[[budget]]\nname = "x"\ncommand = ["./other"]\npeak = "1 B"\n' >other.toml
refused 2 --budget other.toml p.json <<'TEXT'
heapprof: error: other.toml has no budget for p.json, a profile of: ./leaky [HP149]
  fix:     say which one it is: --name BUDGET
  instead: give a budget the profile's command
TEXT
refused 2 --budget other.toml --name y p.json <<'TEXT'
heapprof: error: no budget matches --name 'y', only x [HP150]
  fix:     name one of them
  instead: leave --name out: each profile is checked by the budget with its command
TEXT
sed -i 's/^peak.*/peek = 1/' other.toml
refused 2 --budget other.toml <<'TEXT'
heapprof: error: other.toml, line 5: unknown key 'peek'; did you mean peak? [HP144]
  fix:     the keys here are peak, total, leaked, allocations, temporary, warn_at, tolerance, slack, runs, processes, name, command, baseline, message, site, ignore
  instead: turn it into a comment: put # in front of it
TEXT
refused 2 --runs 3 --max-peak 1B p.json <<'TEXT'
heapprof: error: --runs is for a command that heapprof check runs itself [HP160]
  fix:     name the command: heapprof check --runs 3 -- PROGRAM
  instead: leave --runs out: each profile is judged alone
TEXT
expect_status 2 check --max-peak 1B p.json -- ./leaky
expect_status 2 check --max-peak 1B --
expect_status 2 check --max-peak 1B --tolerance much p.json
expect_status 2 check --max-peak 1MiB --junit no/such/folder/x.xml -- sh -c 'touch was-run'
[ ! -e was-run ] || fail "the program ran although its result has no place to go"

# Ctrl-C is meant for the whole: what would come next is not run.
cat >stopped.toml <<'TOML'
version = 1
[defaults]
peak = { host = "1 GiB" }
[[budget]]
name    = "first"
command = ["sh", "-c", "kill -INT $$"]
[[budget]]
name    = "second"
command = ["touch", "was-run"]
TOML
rm -f was-run
expect_status 4 check --budget stopped.toml
[ ! -e was-run ] || fail "the second program ran after Ctrl-C"
