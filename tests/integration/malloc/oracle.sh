# Every number of a profile is true: random work on 1 to 64 threads, compared with the program's own books, at fixed
# seeds. With HEAPPROF_LONG three times as much of it.
oracle_case() {  # SEED THREADS OPERATIONS MODE STACKS FLAGS [FLAGS_OF_RUN…]
  local seed=$1 threads=$2 operations=$3 mode=$4 stacks=$5 flags=$6
  shift 6
  [ -z "${HEAPPROF_LONG:-}" ] || operations=$((3 * operations))
  "$HEAPPROF_BIN" run -q "$@" -o rest.json -- "$TARGETS/oracle" "$seed" "$threads" 0 "$mode" rest_books.json "$stacks" "$flags" ||
    fail "oracle without work"
  "$HEAPPROF_BIN" run -q --all-sites "$@" -o profile.json -- "$TARGETS/oracle" "$seed" "$threads" "$operations" "$mode" books.json "$stacks" "$flags" ||
    fail "oracle $seed"
  check_profile profile.json
  [ $# = 0 ] || echo "with $*:"
  "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" books.json profile.json --rest rest.json --quiet || fail "oracle $seed: the profile is not true"
}
#           seed threads operations mode stacks
oracle_case  101    1   50000 free     256 h
oracle_case  102    1   20000 barrier 1000 ""
oracle_case  103    2   50000 barrier  256 ""
oracle_case  104    2   20000 free     128 h
oracle_case  105    4   50000 barrier  512 ""
oracle_case  106    4   50000 free     256 h
oracle_case  107   16   50000 barrier  256 ""
oracle_case  108   16   50000 free      64 h
oracle_case  109   64   50000 barrier  128 ""
oracle_case  110   64   50000 free     256 h
# The ways that only some machines need.
oracle_case  111    4   20000 barrier  128 "" --clock sequence
oracle_case  112    4   20000 barrier  128 "" --fence global
oracle_case  113    4   20000 free     128 h  --fence producer
oracle_case  115   16   20000 free     128 h  --collector-threads 2
oracle_case  116    1   20000 barrier  128 "" --collector-threads 2
oracle_case  114   16   20000 free     128 h  --clock sequence --fence producer
oracle_case  115    2   10000 barrier  128 "" --unwinder libunwind
