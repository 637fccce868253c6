# 60 programs of the distribution (300 in scripts/nightly) say the same, and end the same, under heapprof: as they are,
# as patchelf leaves them, and at small jobs. (What four linkers make of small programs:
# integration/loader/changed_files.sh.)
count=${HEAPPROF_LONG:+300}
"$PYTHON" "$SOURCE/tests/support/programs.py" "$HEAPPROF_BIN" "${count:-60}" || fail "a program differs"
