# Allocations before main, after it, and at the end of threads are seen, with the functions that made them.
profile "$TARGETS/around_main"
expect_eq "exit status" "$status" 0
expect_complete
place() { expect_sum "$1" "$(($2 * $3)) $3 $(($2 * $4)) $4"; }  # REGEX SIZE BLOCKS LEAKED
place '^construct_early'         1235 1 1
place 'Object::Object\(\)'       1237 1 0
place 'Object::~Object\(\)'      1238 1 1
place 'PerThread::~PerThread\(\)' 1239 4 4
place 'destroy_value'            1240 3 3
place 'at_exit'                  1241 1 1
place '^destruct_late'           1236 1 1
