# The attacker: the cases that were found and mended, then seeds, always the same ones: a commit is refused for what it
# changed. New seeds are scripts/nightly's. Natively the same steps come to the same results; that is tested first, of
# other seeds.
export HEAPPROF_BIN TARGETS
attack=("$PYTHON" "$SOURCE/tests/stress/attack.py" --keep .)
"${attack[@]}" --native --count 10 --seed 500000 || fail "the attacker itself is wrong"
cases=("$SOURCE"/tests/stress/attack/*.steps)
"${attack[@]}" --no-shrink "${cases[@]}" || fail "a fault that was mended is back"
"${attack[@]}" --without-known --count 15 --seed 1
