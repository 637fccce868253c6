# With a file: who has a budget is judged by it; a device or a site has to be in one process, not in all.
with_suite
cat >each.toml <<'TOML'
version = 1
[[budget]]
name = "suite"
command = ["sh", "suite.sh"]
processes = "each"
total = "1 MiB"
  [[budget.site]]
  match = "main"
  allocations = 100
[[budget]]
name = "one"
command = ["build/leaky", "more"]
leaked = "1 KiB"
TOML
expect_status 1 check --budget each.toml --name suite --json x.json
expect_eq "whose budget" "$(jq -r '.checks[] | .name + " " + .outcome' x.json | xargs)" "suite ok suite.leaky ok one fail suite.sh ok"
expect_not_in err.txt "HP147"
expect_in out.txt "ok  suite.leaky  main allocations"
expect_status 0 check --budget each.toml --name suite --processes started
expect_in err.txt "HP161"
expect_in err.txt "no stack has a frame that matches 'main'"  # sh has none
printf 'version = 1\n[[budget]]\nname = "suite"\ncommand = ["sh", "suite.sh"]\nprocesses = "each"\npeak = { "cuda:0" = "1 MiB" }\n' >cuda.toml
expect_status 2 check --budget cuda.toml
expect_in err.txt "cuda.toml, line 6: the program used no device 'cuda:0', only host [HP145]"
