# Mistakes in a file of contracts: file, line, and what would do.
contract() { printf 'version = 1\n[[contract]]\nid = "c"\nstatement = "It is so"\n%s\n' "$1" >c.toml; }
mistake() {
  contract "$1"
  expect_status 2 check --contracts c.toml
  expect_in err.txt "$2"
  expect_eq "output" "$(cat out.txt)" ""
}
mistake 'comand = ["./leaky"]' "c.toml, line 5: unknown key 'comand'; did you mean command? [HP144]"
mistake 'command = ["./leaky"]' "nothing can break 'c': set exit, file, or a limit [HP143]"
mistake 'exit = 0' "'c' has no command to run"
mistake "$(printf 'command = ["./leaky"]\nexit = 256')" "c.toml, line 6: exit takes a status from 0 to 255, or a signal such as \"SIGKILL\""
mistake "$(printf 'command = ["./leaky"]\nexit = "KILL"')" "or a signal such as"
mistake "$(printf 'command = ["./leaky"]\npeak = "512M"')" "c.toml, line 6: ambiguous"
mistake "$(printf 'command = ["./leaky"]\nprofiled = false\npeak = "5 MiB"')" "'c' has a limit, and is not profiled"
mistake "$(printf 'command = ["./leaky"]\nfile = { path = "a", size = "12 MiB" }')" "such as 12 GiB ± 2 %"
mistake "$(printf 'command = ["./leaky"]\nfile = { paht = "a" }')" "unknown key 'paht'"
mistake "$(printf 'command = ["./leaky"]\nfile = ["a", "a"]')" "the file 'a' is named twice"
mistake "$(printf 'command = ["./leaky"]\nexit = 0\n[[contract]]\nid = "c"\nstatement = "s"\ncommand = ["x"]\nexit = 0')" "the id 'c' stands in line 2 too"
