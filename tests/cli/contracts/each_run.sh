# A run that ended otherwise breaks the contract, whichever it is of several; --warn-only is about what a program takes.
cat >flaky.sh <<'SH'
n=$(($(cat runs 2>/dev/null || echo 0) + 1))
echo $n >runs
[ $n != 1 ] || kill -SEGV $$
SH
cat >flaky.toml <<'TOML'
version = 1
[[contract]]
id = "flaky"
statement = "It ends well each time"
command = ["sh", "flaky.sh"]
exit = 0
runs = 3
TOML
expect_status 1 check --contracts flaky.toml
expect_in out.txt "end  killed by SIGSEGV"
rm runs
expect_status 4 check --contracts flaky.toml --warn-only
printf 'version = 1\n[[contract]]\nid = "crash"\nstatement = "s"\ncommand = ["sh", "-c", "kill -SEGV $$"]\nprofiled = false\nexit = 0\n' >crash.toml
expect_status 4 check --contracts crash.toml --warn-only
