# A terminal that is full is not "ok".
with_leaky_profile p.json
if check --max-leaked 1MiB p.json >/dev/full 2>err.txt; then fail "0 though nothing could be said"; fi
