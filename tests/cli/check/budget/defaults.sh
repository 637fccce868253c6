# A file with budgets of which none is for the program.
with_leaky_profile p.json
printf 'version = 1\n[defaults]\nleaked = { host = "1 MiB" }\n[[budget]]\nname = "other"\ncommand = ["./leaky", "x"]\n' >other.toml
expect_status 0 check --budget other.toml p.json
expect_in err.txt "no budget of other.toml is for ./leaky: its defaults apply [HP163]"
