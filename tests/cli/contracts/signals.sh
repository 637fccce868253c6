# From the second program on too: no signal is blocked or ignored, profiled or not.
states() { sed -n 's/^\(Sig[BI][lg][kn]\):[\t ]*/\1 /p' "$1"; }
grep Sig /proc/self/status >outside.txt
printf 'version = 1\n' >signals.toml
for id in one two three four; do
  printf '[[contract]]\nid = "%s"\nstatement = "s"\ncommand = ["sh", "-c", "grep Sig /proc/self/status >%s.txt"]\nprofiled = %s\nfile = "%s.txt"\n' \
    $id $id "$([ $id = two ] || [ $id = four ] && echo false || echo true)" $id >>signals.toml
done
expect_status 0 check --contracts signals.toml
for id in one two three four; do expect_eq "signals of program $id" "$(states $id.txt)" "$(states outside.txt)"; done
