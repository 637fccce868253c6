# Without a limit there is nothing to hold against the processes: the baseline is of the program.
with_suite
expect_status 0 check --max-peak 1MiB -o base.json -- sh suite.sh
expect_status 0 check --baseline base.json --tolerance 50% --processes each -- sh suite.sh
expect_in err.txt "3 processes that the program started were not judged"
expect_status 2 check --processes each --max-peak 1MiB base.json
expect_in err.txt "--processes is for a command that heapprof check runs itself [HP160]"
