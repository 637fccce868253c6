# Names that differ only in what no file name can have, have profiles and baselines of their own.
cp "$TARGETS/leaky" .
printf 'version = 1\n[defaults]\nleaked = "0 B"\n' >names.toml
for name in "a b" "a_b"; do printf '[[budget]]\nname = "%s"\ncommand = ["./leaky"]\n' "$name" >>names.toml; done
expect_status 1 check --budget names.toml
expect_eq "kept" "$(ls heapprof.check.a_b*.json | wc -l) $(ls heapprof.check.a_b.json)" "2 heapprof.check.a_b.json"
expect_status 1 check --budget names.toml --baseline base/ --update-baseline
expect_eq "baselines" "$(ls base | wc -l)" 2
