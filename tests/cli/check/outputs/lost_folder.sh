# An output that cannot be written does not keep the others from it. (A folder that goes while the program runs.)
mkdir late
expect_status 2 check --max-peak 1MiB --junit late/x.xml --json x.json -- sh -c 'rmdir late; :'
expect_in err.txt "late/x.xml cannot be written"
expect_eq "the other output" "$(outcomes x.json)" "sh: ok"
