# A program that the kernel kills because its memory cgroup is full: its profile has everything up to that moment.
[ "$(id -u)" = 0 ] || skip "memory cgroups need root"
group=heapprof-test-$$
if [ -d /sys/fs/cgroup/memory ]; then  # version 1
  folder=/sys/fs/cgroup/memory/$group limit=memory.limit_in_bytes
else
  folder=/sys/fs/cgroup/$group limit=memory.max
fi
mkdir "$folder" 2>/dev/null || skip "no memory cgroup can be made here"
at_end() { rmdir "$folder" 2>/dev/null || true; }
echo $((48 << 20)) 2>/dev/null >"$folder/$limit" || skip "the memory controller is not at hand here"
[ ! -e "$folder/memory.swap.max" ] || echo 0 >"$folder/memory.swap.max"
status=0
"$HEAPPROF_BIN" run -q -o profile.json -- bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$folder" "$TARGETS/ends" forever 1 counts >out.txt 2>err.txt || status=$?
expect_eq "exit status" $status 137
expect_end signaled 9
check_profile profile.json
expect_complete
read -r allocations frees < <(od -An -tu8 counts)
[ "$allocations" -gt 20000 ] || fail "killed after $allocations blocks: the limit was not reached"
read -r _ blocks _ leaked < <(sum '^allocate_one\(')
[ "$blocks" = "$allocations" ] || [ "$blocks" = $((allocations + 1)) ] || fail "$blocks blocks, the target counted $allocations"
freed=$((blocks - leaked))
[ "$freed" = "$frees" ] || [ "$freed" = $((frees + 1)) ] || fail "$freed freed, the target counted $frees"
