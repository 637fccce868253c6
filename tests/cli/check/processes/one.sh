# A program that the program started is named as one.
expect_status 0 check --max-peak 1MiB -- sh -c 'sleep 0; :'
expect_in err.txt "1 process that the program started was not judged: only the program itself is [HP161]"
