# A program that another replaced by exec is not judged, and is named.
cp "$TARGETS/leaky" .
expect_status 0 check --max-peak 1MiB -- sh -c 'exec ./leaky'
expect_in err.txt "1 program that another replaced by exec was not judged: only what a process was in the end is [HP164]"
expect_in out.txt "1 program replaced by exec was not judged"
