# A file without contracts, one that is not there, and a name that none has.
printf 'version = 1\n' >none.toml
expect_status 2 check --contracts none.toml
expect_in err.txt "there is no [[contract]] in it"
expect_status 2 check --contracts missing.toml
expect_in err.txt "the contracts in missing.toml cannot be read: no such file or directory [HP180]"
contract() { printf 'version = 1\n[[contract]]\nid = "c"\nstatement = "It is so"\n%s\n' "$1" >c.toml; }
contract "$(printf 'command = ["./leaky"]\nexit = 0')"
expect_status 2 check --contracts c.toml --name other
expect_in err.txt "no contract matches --name 'other', only c are there [HP181]"
