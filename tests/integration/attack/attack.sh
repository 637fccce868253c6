# The attacker for forty seconds: the cases that were found and mended, then seeds that begin with the time of the
# commit, so that one commit is attacked in one way and the next in another. For hours: tests/stress/attack.py. Natively
# the same steps come to the same results; that is tested first, of other seeds.
export HEAPPROF_BIN TARGETS
attack=("$PYTHON" "$SOURCE/tests/stress/attack.py" --keep .)
"${attack[@]}" --native --count 20 --seed 500000 || fail "the attacker itself is wrong"
cases=("$SOURCE"/tests/stress/attack/*.steps)
"${attack[@]}" --no-shrink "${cases[@]}" || fail "a fault that was mended is back"
"${attack[@]}" --without-known --seconds "${HEAPPROF_ATTACK_SECONDS:-40}" --seed "$(git -C "$SOURCE" log -1 --format=%ct 2>/dev/null || echo 1)"
