# A program that is not there has no memory to be judged.
expect_status 3 check --max-peak 1GiB -- ./no-such-program
expect_in err.txt "no such program: ./no-such-program [HP001]"
expect_in err.txt "no profile of ./no-such-program was made [HP154]"
