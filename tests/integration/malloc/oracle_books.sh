# The oracle's own books are true: Valgrind's DHAT, which shares no code with us, finds the same numbers at every stack.
command -v valgrind >/dev/null || missing valgrind "valgrind is not installed: apt-get install valgrind"
for case in "11 1 15000 free" "12 4 15000 barrier" "13 16 15000 free"; do
  read -r seed threads operations mode <<<"$case"
  valgrind --tool=dhat --num-callers=100 --run-libc-freeres=no --run-cxx-freeres=no --dhat-out-file=dhat.json \
    "$TARGETS/oracle" "$seed" "$threads" "$operations" "$mode" books.json 256 v >valgrind.txt 2>&1 || { cat valgrind.txt; fail "oracle $case"; }
  "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" books.json dhat.json --valgrind --quiet || fail "oracle $case: the books are wrong"
done
# … and the comparison sees a single wrong byte.
sed -E '0,/"total_bytes": ([0-9]+)/s//"total_bytes": 1\1/' books.json >wrong.json
! "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" wrong.json dhat.json --valgrind >/dev/null || fail "a wrong total went unnoticed"
sed -E '0,/"eb": ([1-9][0-9]*)/s//"eb": 1\1/' books.json >wrong.json
! "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" wrong.json dhat.json --valgrind >/dev/null || fail "a wrong stack went unnoticed"
