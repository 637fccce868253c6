# report --instances shows single runs of a scope, --categories gives scopes categories; what cannot be is refused.
expect_status 0 "$HEAPPROF_BIN" run -q -o r.json "$TARGETS/instances" 1 2 30 books.txt exit
expect_status 0 "$HEAPPROF_BIN" report --instances "round > step" --top 2 r.json
expect_in out.txt "INSTANCES  round > step: 56 runs"
expect_in out.txt "most grown first"
expect_eq "rows" "$(grep -cE '^ *[0-9]+\.[0-9]{6} s ' out.txt)" 4
expect_status 0 "$HEAPPROF_BIN" report --instances last r.json
expect_in out.txt ", open at the end"

# JSON has all runs with --scopes, and none without.
expect_status 0 "$HEAPPROF_BIN" report --scopes --format json r.json
expect_eq "runs" "$(jq -c '[.scopes.scopes[] | select(.name == "round" or .name == "step").instances | length]' out.txt)" "[60,56]"
expect_eq "runs as columns, and as objects" "$(jq -c '[.scopes.scopes[].instances[].growth_bytes] | add' out.txt)" \
  "$(jq -c '[.heapprof.scopes.scopes[].instances.growth_bytes[]] | add' r.json)"
expect_status 0 "$HEAPPROF_BIN" report --format json r.json
expect_eq "runs" "$(jq '[.scopes.scopes[] | has("instances")] | any' out.txt)" false

# The categories' parts are all of the scopes' own time, within rounding.
cat >c.toml <<'TOML'
[[category]]
name = "work"
scopes = ["st*", "task"]
[[category]]
name = "never"
scopes = ["nothing of this name"]
TOML
expect_status 0 "$HEAPPROF_BIN" report --scopes --categories c.toml r.json
expect_in out.txt "CATEGORIES  of the scopes' own time and memory"
expect_in out.txt "work: step"
expect_in out.txt "0  never"
expect_status 0 "$HEAPPROF_BIN" report --scopes --categories c.toml --format json r.json
expect_eq "categories" "$(jq -c '[.categories[].category] | sort' out.txt)" '["","never","work"]'
expect_eq "the sum of the categories" "$(jq '[.categories[].own_time_ns] | add' out.txt)" "$(jq '[.scopes.scopes[].own_time_ns] | add' out.txt)"
expect_eq "their bytes" "$(jq '[.categories[].memory[].allocated_bytes] | add' out.txt)" "$(jq '[.scopes.scopes[].memory[].allocated_bytes] | add' out.txt)"

# Single runs of several runs are left out, and counted.
cp r.json again.json
expect_status 0 "$HEAPPROF_BIN" merge -q -o m.json r.json again.json
expect_eq "begun, and not kept" "$(json m.json '[.heapprof.scopes.scopes[] | .begun_count == .unkept_instances_count and (has("instances") | not)] | all')" true
expect_status 0 "$HEAPPROF_BIN" report --instances round m.json
expect_in out.txt "INSTANCES  round: 120 runs, none kept one by one"

refused 2 report --instances rund r.json <<'WORDS'
heapprof: error: r.json has no scope 'rund'; the nearest: round [HP220]
  fix:     write its name or its path as it is shown, or a glob: --instances 'serve > *'
  instead: see all of them: heapprof report --scopes r.json
WORDS
printf '[[category]]\nscopes = ["x"]\n' >broken.toml
refused 2 report --scopes --categories broken.toml r.json <<'WORDS'
heapprof: error: broken.toml, line 1: the category has no name [HP222]
  fix:     write it as man heapprof-report shows
  instead: leave --categories out: scopes have those that the program gave them
WORDS
refused 2 report --scopes --categories missing.toml r.json <<'WORDS'
heapprof: error: the categories in missing.toml cannot be read: no such file or directory [HP221]
  fix:     look for the file: ls -l missing.toml
  instead: leave --categories out: scopes have those that the program gave them
WORDS
for flags in "--instances x --stable" "--instances x --tree" "--instances x --format csv" "--instances x --format dot" "--categories c.toml"; do
  # shellcheck disable=SC2086 # several flags
  expect_status 2 "$HEAPPROF_BIN" report $flags r.json
done
