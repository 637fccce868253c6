# Every number of a profile is true: random work on 1 to 64 threads, compared with the program's own books, at fixed seeds.
oracle_case() {  # SEED THREADS OPERATIONS MODE STACKS FLAGS
  "$HEAPPROF_BIN" run -q -o rest.json -- "$TARGETS/oracle" "$1" "$2" 0 "$4" rest_books.json "$5" "$6" || fail "oracle without work"
  "$HEAPPROF_BIN" run -q --all-sites -o profile.json -- "$TARGETS/oracle" "$1" "$2" "$3" "$4" books.json "$5" "$6" || fail "oracle $*"
  check_profile profile.json
  python3 "$SOURCE/tests/support/compare_oracle.py" books.json profile.json --rest rest.json --quiet || fail "oracle $*: the profile is not true"
}
#           seed threads operations mode stacks
oracle_case  101    1  200000 free     256 h
oracle_case  102    1  100000 barrier 1000 ""
oracle_case  103    2  200000 barrier  256 ""
oracle_case  104    2  100000 free     128 h
oracle_case  105    4  200000 barrier  512 ""
oracle_case  106    4  200000 free     256 h
oracle_case  107   16  200000 barrier  256 ""
oracle_case  108   16  200000 free      64 h
oracle_case  109   64  200000 barrier  128 ""
oracle_case  110   64  200000 free     256 h
