# SIGKILL for every process of a tree, each at a moment that nobody chose, with full rings too: no published event is
# lost. The nightly form is tests/stress/random_kills.sh.
export HEAPPROF_BIN TARGETS
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
"$PYTHON" "$SOURCE/tests/support/random_kills.py" 6 7 || fail "at seed 7"
"$PYTHON" "$SOURCE/tests/support/random_kills.py" 4 "$seed" || fail "at seed $seed"
"$PYTHON" "$SOURCE/tests/support/random_kills.py" 3 1 --processes 3 --threads 8 --full yes || fail "with full rings"
