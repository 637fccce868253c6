# Other tools between heapprof and the program, around heapprof, and in its environment: output and exit status are as
# without us, and every block of the program is in a profile.
tried=0
# The profile of the program's last image, wherever it stands in the tree; each must have what `leaky` does: 5 blocks
# leak, 4 do not.
expect_leaky() {
  local file found=0
  for file in profile*.json; do
    [ "$(sum '^leak_blocks' "$file")" = "6175 5 6175 5" ] && [ "$(sum '^free_blocks' "$file")" = "4948 4 0 0" ] && found=$((found + 1))
  done
  expect_eq "profiles of the program with $1" "$found" 1
}
# between WHAT COMMAND…: `COMMAND leaky` under heapprof, as without it
between() {
  local what=$1 plain=0 got=0
  shift
  have "$1" || { not_tried "$1 is not installed"; return; }
  rm -f profile*.json nohup.out
  timeout 300 "$@" "$TARGETS/leaky" one two >plain_out.txt 2>plain_err.txt </dev/null || plain=$?
  if [ $plain != 0 ]; then
    not_tried "$what is not possible here: $(head -n 1 plain_err.txt)"
    return
  fi
  timeout 300 "$HEAPPROF_BIN" run -q -o profile.json -- "$@" "$TARGETS/leaky" one two >out.txt 2>err.txt </dev/null || got=$?
  expect_eq "exit status with $what" $got $plain
  if [ -z "${prints_addresses:-}" ]; then
    cmp -s out.txt plain_out.txt || { diff plain_out.txt out.txt; fail "stdout differs with $what"; }
    cmp -s err.txt plain_err.txt || { diff plain_err.txt err.txt; fail "stderr differs with $what"; }
  fi
  check_profile profile*.json
  expect_leaky "$what"
  tried=$((tried + 1))
}
between nothing env
between "env -i" env -i A=1
between "unset LD_PRELOAD" env -u LD_PRELOAD
between nice nice -n 3
between nohup nohup
between setsid setsid -w
between timeout timeout 300
between "timeout in the foreground" timeout --foreground 300
between xargs xargs -n 1 env
between stdbuf stdbuf -oL
between "no address randomization" setarch -R
between fakeroot fakeroot
between faketime faketime '2020-01-01 00:00:00'
between "a new user namespace" unshare -U
between "a new user namespace as root" unshare -U -r
between "new mounts" unshare -m
between "a new network" unshare -n
between "new pids" unshare -p -f
between "new pids with /proc" unshare -p -f --mount-proc
between bwrap bwrap --dev-bind / /
between "bwrap without /proc" bwrap --ro-bind / / --tmpfs /proc --dev /dev
between "bwrap without anything" bwrap --ro-bind / / --unshare-all --tmpfs /proc --die-with-parent
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" = 0 ]; then
  # In a folder that is closed to others the program starts without us.
  if "${nobody[@]}" test -r "$HEAPPROF_BIN"; then between "another user" "${nobody[@]}"; else not_tried "another user: $BUILD is closed to others"; fi
fi
between "no new privileges" setpriv --no-new-privs
between prlimit prlimit --nofile=1024 --core=0
between "8 MiB of stack" prlimit --stack=8388608
between flock flock lock
prints_addresses=1  # or process ids, times
between strace strace -f -o trace.txt
between ltrace ltrace -o trace.txt
between gdb gdb -q -batch -ex "set startup-with-shell off" -ex run -ex quit --args
prints_addresses=

# Around heapprof.
for around in "strace -f -o trace.txt" "gdb -q -batch -ex run -ex quit --args" "nohup" "setsid -w" "timeout 300" "fakeroot" "env -i PATH=$PATH" \
  "unshare -U -r" "unshare -n" "unshare -p -f --mount-proc" "nice -n 2" "setarch -R" "prlimit --nofile=64"; do
  have "${around%% *}" && $around true >/dev/null 2>&1 </dev/null || { not_tried "$around is not possible here"; continue; }
  rm -f profile*.json nohup.out
  timeout 300 $around "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/leaky" >out.txt 2>err.txt </dev/null || fail "exit status $? with $around around heapprof"
  check_profile profile*.json
  expect_leaky "$around around heapprof"
  tried=$((tried + 1))
done

# In the environment.
library() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !/x32/ { print $NF; exit }'; }
for setting in LD_BIND_NOW=1 MALLOC_PERTURB_=85 MALLOC_ARENA_MAX=1 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_TOP_PAD_=1 \
  "LD_PRELOAD=$(library libc_malloc_debug.so.0)" "LD_PRELOAD=$(library libjemalloc.so.2)" "LD_PRELOAD=$(library libSegFault.so)" \
  LD_PRELOAD= LD_LIBRARY_PATH=/nowhere TMPDIR=/nowhere HOME=/nowhere; do
  [ "$setting" != LD_PRELOAD= ] || [ -z "${said_empty:-}" ] || continue
  case $setting in LD_PRELOAD=) said_empty=1 ;; esac
  rm -f profile*.json
  env "$setting" "$TARGETS/leaky" >plain_out.txt 2>plain_err.txt </dev/null || { not_tried "$setting is not possible here"; continue; }
  env "$setting" timeout 300 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/leaky" >out.txt 2>err.txt </dev/null || fail "exit status $? with $setting"
  cmp -s out.txt plain_out.txt && cmp -s err.txt plain_err.txt || { cat err.txt; fail "the output differs with $setting"; }
  check_profile profile*.json
  expect_leaky "$setting"
  tried=$((tried + 1))
done
echo "$tried neighbours"
[ $tried -ge 25 ] || skip "only $tried of the neighbours are possible here"
