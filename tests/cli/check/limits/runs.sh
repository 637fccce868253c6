# --runs N: the median of N runs is judged.
cp "$TARGETS/leaky" .
expect_status 0 check --max-peak 1MiB --runs 3 -o kept.json -- ./leaky
expect_in out.txt "1 limit kept · median of 3 runs · profile kept.json"
