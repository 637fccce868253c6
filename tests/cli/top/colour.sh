# Colour of the word "error", only when it is wanted.
echo '{}' >empty.json
expect_status 2 "$HEAPPROF_BIN" report --color=always --top 0 x.json
expect_in err.txt $'\033[31merror\033[0m'
expect_status 3 "$HEAPPROF_BIN" report --color=always empty.json
expect_in err.txt $'\033[31merror\033[0m'
NO_COLOR=1 expect_status 3 "$HEAPPROF_BIN" report --color=auto empty.json
expect_not_in err.txt $'\033'
