# Two outputs in one file, by whatever name, are refused; what is read is not written over.
with_leaky_profile p.json
expect_status 2 check --max-peak 1MiB --junit x.out --json ./x.out p.json
cat >want.txt <<'TEXT'
heapprof: error: --junit and --json both name ./x.out [HP165]
  fix:     give each a file of its own
  instead: leave one of them out
TEXT
cmp -s want.txt err.txt || fail "other words: $(cat err.txt)"
ln -s p.json link.json
for pair in "--sarif p.json" "--json link.json" "--history p.json"; do
  expect_status 2 check --max-peak 1MiB $pair p.json
  expect_in err.txt "FILE and ${pair%% *} both name ${pair##* } [HP165]"
done
printf 'version = 1\n[[budget]]\nname = "second"\ncommand = ["./leaky", "x"]\nleaked = "1 MiB"\n' >two.toml
expect_status 2 check --budget two.toml --json two.toml p.json
expect_status 0 check --max-peak 1MiB --junit /dev/null --json /dev/null p.json p.json  # a device takes both; a profile may come twice
