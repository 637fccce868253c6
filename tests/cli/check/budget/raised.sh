# A limit that was raised is kept: so says the history, too.
cp "$TARGETS/leaky" .
printf 'version = 1\n[[budget]]\nname = "raised"\ncommand = ["./leaky"]\nleaked = "1 B"\n' >raised.toml
expect_status 0 check --budget raised.toml --update-budget --history raised.jsonl
expect_eq "in the history" "$(jq -c '[.name, .ok]' raised.jsonl)" '["raised",true]'
