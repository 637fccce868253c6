# A budget with a mistake, and one of a program that is not there, are not judged, and the others are.
cp "$TARGETS/leaky" .
cat >two.toml <<'TOML'
version = 1
[[budget]]
name = "first"
command = ["./leaky"]
peak = { "cuda:0" = "1 MiB" }
[[budget]]
name = "second"
command = ["./leaky", "x"]
leaked = "1 MiB"
[[budget]]
name = "third"
command = ["./no-such-program"]
peak = "1 MiB"
TOML
expect_status 3 check --budget two.toml --json x.json --history ci.jsonl
expect_eq "verdicts" "$(outcomes x.json)" "first: not judged;second: ok;third: not judged"
expect_in err.txt "two.toml, line 5: the program used no device 'cuda:0', only host [HP145]"
expect_eq "history" "$(jq -r .name ci.jsonl)" second
expect_status 2 check --budget two.toml --name first --json x.json
expect_eq "verdicts" "$(outcomes x.json)" "first: not judged"
