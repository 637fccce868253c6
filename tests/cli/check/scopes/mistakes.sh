# What cannot be judged is refused, in words that say how it would be: no limit is kept because nothing was counted.
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/scope_work" 5 1000
budget() { printf 'version = 1\n[[budget]]\nname = "x"\n  [[budget.scope]]\n%s\n' "$1" >h.toml; }
broken() {  # TEXT-OF-SCOPE LINE WHY
  budget "$1"
  expect_status 2 check --budget h.toml --name x p.json
  expect_in err.txt "error: h.toml, line $2: $3"
}
broken $'  path = "load"\n  count = -1' 6 "a limit is not negative [HP143]"
broken $'  path = "load"\n  count = 1.5' 6 "count takes a number, or an amount in quotes [HP143]"
broken $'  path = "load"\n  count = "1.5"' 6 "count takes a number such as 2_000_000, not '1.5' [HP143]"
broken $'  path = "load"\n  count = true' 6 "count takes a number, or an amount in quotes [HP143]"
broken $'  path = "load"\n  count = { host = 1 }' 6 "unknown key 'host' [HP144]"
broken $'  path = "load"\n  count = {}' 6 "write max or expect in it [HP143]"
broken $'  path = "load"\n  peak = "512M"' 6 "ambiguous '512M': write 512MiB (536,870,912)"
broken $'  path = "load"\n  kept = { max = "1 KiB" }' 6 "write kept = { host = { max = … } } [HP143]"
broken $'  path = "load"\n  counts = 1' 6 "unknown key 'counts'; did you mean count? [HP144]"
broken $'  path = "load"\n  peak_per_run = 1' 6 "unknown key 'peak_per_run' [HP144]"
broken $'  path = "load"\n  max_time = "1 s"' 6 "unknown key 'max_time' [HP144]"
broken $'  path = "load"\n  calls_per_run = 3' 6 'write calls_per_run = { "synchronize stream" = 3 } [HP143]'
broken $'  path = "load"\n  calls_per_run = { "synchronise*" = 3 }' 6 "no call of a device's API is 'synchronise*': allocate, free,"
broken $'  path = "load"\n  calls_per_run = { set = "1.234" }' 6 "calls_per_run takes a number such as 3 or 1.5, not '1.234' [HP143]"
broken $'  path = "load"\n  calls_per_run = { set = 9223372036854775807 }' 6 "calls_per_run is not that large [HP143]"
broken $'  path = ["load"]\n  count = 1' 5 "path takes a text in quotes [HP143]"
broken $'  path = ""\n  count = 1' 5 "path takes a text in quotes [HP143]"
broken '  count = 1' 4 'a scope needs path = "load > parse", or a glob such as "* > parse" [HP143]'
broken '  path = "load"' 4 "no limit is set for 'load', and there is no baseline [HP143]"
printf 'version = 1\n[[budget]]\nname = "x"\nscope = "load"\n' >h.toml
expect_status 2 check --budget h.toml --name x p.json
expect_in err.txt "h.toml, line 4: write budget.scope as [[budget.scope]] [HP143]"

# A path that names no scope, with those that are most like it.
budget $'  path = "load/parse"\n  count = 5'
refused 2 check --budget h.toml --name x p.json <<'TEXT'
heapprof: error: h.toml, line 4: no scope matches 'load/parse'; the nearest: 'load', 'load > json: parse' [HP166]
  fix:     write the path as it is shown, or a glob: heapprof report --scopes FILE
  instead: if it must not appear: count = 0, which holds without the scope
TEXT
expect_in out.txt "FAIL  x  h.toml, line 4: no scope matches 'load/parse'"
budget $'  path = "parse"\n  count = 5\n  blocks = 0'
expect_status 2 check --budget h.toml --name x p.json
expect_in err.txt "no scope matches 'parse'; the nearest: 'load > json: parse', 'load' [HP166]"

# A profile without scopes, as older ones are, and of other tools; also as a baseline.
with_leaky_profile leaky.json
budget $'  path = "load"\n  count = 0'
refused 2 check --budget h.toml --name x leaky.json <<'TEXT'
heapprof: error: h.toml, line 4: leaky.json has no scopes [HP167]
  fix:     record it again, with a program that names its scopes: man 3 heapprof
  instead: leave the scope out: what it would limit is not checked
TEXT
jq -c 'del(.heapprof.scopes)' p.json >old.json
expect_status 2 check --baseline old.json --scope load p.json
expect_in err.txt "error: --scope: old.json has no scopes [HP167]"
expect_status 2 check --baseline p.json --scope load old.json
expect_in err.txt "error: --scope: old.json has no scopes [HP167]"

# Scopes that found no room are in no number.
for lost in lost_count lost_names_count; do
  jq -c ".heapprof.scopes.$lost = 12" p.json >lost.json
  for files in "p.json lost.json" "lost.json p.json"; do
    expect_status 3 check --baseline "${files% *}" --scope load "${files#* }"
    expect_in err.txt "error: --scope: the scopes of lost.json are not all counted: 12 "
  done
done

# Devices and calls of a program that used none.
budget $'  path = "load"\n  peak = { "cuda:0" = 0 }'
expect_status 2 check --budget h.toml --name x p.json
expect_in err.txt "h.toml, line 6: the program used no device 'cuda:0', only host [HP145]"
for key in 'calls_per_run = { "synchronize*" = 0 }' 'kernel_launches = 1'; do
  budget $'  path = "load"\n  '"$key"
  expect_status 2 check --budget h.toml --name x p.json
  expect_in err.txt "h.toml, line 6: the program called no device's API, and ${key%% *} counts that [HP169]"
done

# --scope is for a baseline of a profile, and not beside contracts.
expect_status 2 check --scope load --max-peak 1GiB p.json
expect_in err.txt "error: --scope needs --baseline FILE too [HP159]"
expect_status 0 check --max-peak 1GiB --history h.jsonl p.json
expect_status 2 check --baseline h.jsonl --scope load p.json
expect_in err.txt "error: --scope: no limit is set for 'load', and a history holds no scopes [HP143]"
expect_status 2 check --contracts h.toml --scope load
expect_in err.txt "[HP182]"
# A limit is judged beside a history, which has nothing to compare it with.
budget $'  path = "load"\n  count = 1'
expect_status 0 check --budget h.toml --name x --baseline h.jsonl --history h.jsonl p.json
expect_in out.txt "load: count"
