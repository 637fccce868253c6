# What the summary concludes of programs whose problem is known, and of their innocent twins (tests/judgement). All of
# them with HEAPPROF_JUDGEMENT=all, as scripts/nightly has it; else those that are quick to build and to run, and that
# say the same on a busy machine: whether the queue of `clicks` is a backlog depends on which of two threads is slower,
# and the export of `invoices` is a spike where it does not take longer than the rest.
names="docsearch tileserver mailroom parcels ticker wavgrab heatmap pyramid logmerge wordcount segstore"
[ "${HEAPPROF_JUDGEMENT:-}" != all ] || names=$(sed '1d; s/\..*//' "$SOURCE/tests/judgement/truth.tsv")
mkdir programs
if [ "${HEAPPROF_JUDGEMENT:-}" = all ]; then
  "$SOURCE/tests/judgement/build.sh" programs || fail "build.sh"
else
  for name in $names; do
    for file in "$SOURCE/tests/judgement/$name".c*; do
      case $file in
        *.cc) g++ -std=c++17 -g -O2 -pthread "$file" -o "programs/$name" ;;
        *.c) gcc -std=gnu11 -g -O2 "$file" -o "programs/$name" -lm ;;
      esac
    done
  done
fi
# shellcheck disable=SC2086
"$PYTHON" "$SOURCE/tests/judgement/grade.py" "$HEAPPROF_BIN" programs $names >graded.txt || { cat graded.txt; fail "another conclusion"; }
cat graded.txt
