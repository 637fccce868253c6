# What another tool does not know of a program is said, and is not judged.
cp "$foreign/valgrind_heap.json" valgrind.json
expect_status 0 check --max-total 1GiB valgrind.json
expect_in out.txt "1 limit kept · how the program ended is not known · profile valgrind.json"
expect_status 2 check --max-temporary 5 valgrind.json
