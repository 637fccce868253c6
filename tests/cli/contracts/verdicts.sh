# Verdicts and exit codes: a contract is kept, its program fails, or is not there.
cp "$TARGETS/leaky" "$TARGETS/exit_code" .
cp "$SOURCE/tests/cli/contracts/all.toml" .
expect_status 0 check --contracts all.toml --name kept
expect_status 0 check --contracts all.toml --name sizes
expect_in out.txt "size.txt written, size of size.txt 15 B,"
expect_status 4 check --contracts all.toml --name fails
expect_in err.txt "./exit_code failed: exit 7; its memory is not judged [HP152]"
expect_status 0 check --contracts all.toml --name failure
expect_status 3 check --contracts all.toml --name absent
expect_in err.txt "no such program: ./no-such-program [HP001]"
rm -f heapprof.check.*
expect_status 4 check --contracts all.toml
expect_in out.txt "2 of 5 contracts not judged"
expect_status 0 check --contracts all.toml --name kept -q
expect_eq "words of -q" "$(cat out.txt err.txt)" ""
