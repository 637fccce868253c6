# A crash is never "memory ok", with --warn-only neither.
cp "$TARGETS/exit_code" .
expect_status 4 check --max-peak 1GiB --warn-only -- ./exit_code 7
expect_in err.txt "./exit_code failed: exit 7; its memory is not judged [HP152]"
expect_in out.txt "FAIL  exit_code  the program failed: exit 7; its memory is not judged · profile heapprof.check.exit_code.json"
expect_not_in out.txt "ok"
expect_status 4 check --max-peak 1GiB heapprof.check.exit_code.json
expect_status 4 check --max-peak 1GiB --runs 3 -- sh -c 'kill -SEGV $$'
expect_in err.txt "sh failed: killed by SIGSEGV"
