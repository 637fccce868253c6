# Two minutes of the attacker: seeds that are the same every time, then the cases that were found and mended. For hours:
# tests/stress/attack.py. Natively the same steps come to the same results; that is tested first, of other seeds.
export HEAPPROF_BIN TARGETS
attack=("$PYTHON" "$SOURCE/tests/stress/attack.py" --keep .)
"${attack[@]}" --native --count 20 --seed 500000 || fail "the attacker itself is wrong"
cases=("$SOURCE"/tests/stress/attack/*.steps)
"${attack[@]}" --no-shrink "${cases[@]}" || fail "a fault that was mended is back"
"${attack[@]}" --without-known --seconds "${HEAPPROF_ATTACK_SECONDS:-100}" --seed 1
