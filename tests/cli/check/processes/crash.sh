# A crash is one, wherever it happens.
expect_status 4 check --max-leaked 1MiB --processes each -- sh -c 'sh -c "kill -SEGV \$\$"; :'
expect_in out.txt "FAIL  sh.sh  the program failed: killed by SIGSEGV"
expect_status 0 check --max-leaked 1MiB --processes each -- sh -c 'sh -c "kill -TERM \$\$"; :'
