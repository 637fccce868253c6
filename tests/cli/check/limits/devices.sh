# A limit is of one device, and the others are not shown.
cp "$small" small.json
expect_status 1 check --max-peak 1MiB --max-peak cuda:0=1KiB -q small.json
expect_in out.txt "FAIL  render  cuda:0 peak  1.00 MiB  limit 1.00 KiB"
expect_not_in out.txt "host peak"
