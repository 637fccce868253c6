# A program that heapprof cannot see is no less there than others.
printf 'int main(void) { return 0; }\n' >unseen.c
gcc -static -O1 unseen.c -o unseen
expect_status 0 check --max-peak 1MiB --json x.json -- sh -c './unseen; ./unseen; :'
expect_eq "not judged" "$(jq '.checks[0].processes_not_judged_count' x.json)" 2
expect_status 0 check --max-peak 1MiB --processes each --json x.json -- sh -c './unseen; ./unseen; :'
expect_eq "not judged" "$(jq '.checks[0].processes_not_judged_count' x.json)" 2
