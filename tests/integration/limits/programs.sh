# 300 programs of the distribution say the same, and end the same, under heapprof: as they are, as patchelf leaves them,
# and at small jobs. (What four linkers make of small programs: integration/loader/changed_files.sh.)
"$PYTHON" "$SOURCE/tests/support/programs.py" "$HEAPPROF_BIN" || fail "a program differs"
