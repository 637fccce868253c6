# Where the profile finds no room: a clear error, status 125, no half-written file, and the previous one as it was; the
# profile is in a folder for temporary files then, if it finds room there.
expect_kept() {
  expect_eq "the previous profile" "$(cat "$1/profile.json")" "previous"
  expect_eq "files" "$(ls -A "$1")" profile.json
  expect_in err.txt "heapprof: error:"
  expect_in err.txt "fix:"
}
mkdir limited
echo previous >limited/profile.json
# A limit of 2 KiB: not even the events find room.
(ulimit -f 2; expect_status 125 "$HEAPPROF_BIN" run -o limited/profile.json -- "$TARGETS/distinct_stacks" 8)
expect_kept limited
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=16k none small 2>/dev/null; then
  echo previous >small/profile.json
  got=0
  mkdir spare
  export TMPDIR=$PWD/spare
  (expect_status 125 "$HEAPPROF_BIN" run -o small/profile.json -- "$TARGETS/distinct_stacks" 10) && expect_kept small || got=$?
  umount small
  expect_eq "on a full file system" $got 0
  # What was measured is not lost: it is shown, and kept where there is room.
  check_profile spare/profile.json
  expect_in err.txt "at the host peak"
  expect_in err.txt "the profile is in $PWD/spare/profile.json [HP345]"
else
  not_tried "no tmpfs: only the file size limit was tried"
fi
