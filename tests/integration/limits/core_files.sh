# A core file of a profiled program holds none of the agent's buffers: the kernel and gdb leave out what has the flag
# "dd".
mkfifo hold
"$HEAPPROF_BIN" run -q -o profile.json -- cat hold >out.txt &
runner=$!
exec 3>hold  # goes on when cat has opened it: by then the agent has its memory
pid=$(pgrep -P $runner -x cat) || fail "no cat"
# Address, size in kB and flags of each mapping of the arena.
awk '/^[0-9a-f]+-[0-9a-f]+ / { ours = /memfd:heapprof/; at = $1 } /^Size:/ { size = $2 } ours && /^VmFlags:/ { print at, size, $0 }' \
  "/proc/$pid/smaps" >maps.txt
[ "$(wc -l <maps.txt)" -ge 3 ] || fail "no arena: $(cat maps.txt)"
if grep -v ' dd' maps.txt; then fail "a part of the arena is in core files"; fi
# Nor do private mappings as large as the agent's contexts.
if have gcore; then
  gcore -o core "$pid" >gcore.txt 2>&1 || skip "gcore may not: $(tail -n 1 gcore.txt)"
  largest=$(awk '{ if ($2 > most) most = $2 } END { print most * 1024 }' maps.txt)
  [ "$(stat -c %s "core.$pid")" -lt "$largest" ] || fail "a core file of $(stat -c %s "core.$pid") bytes beside an arena of $largest"
else
  not_tried "gcore (apt-get install gdb)"
fi
echo text >&3
exec 3>&-
wait $runner || fail "exit status $?"
expect_eq "the program's output" "$(cat out.txt)" text
