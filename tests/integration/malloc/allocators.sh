# A program on tcmalloc, jemalloc or mimalloc is profiled on that allocator, linked or preloaded; each block counts
# once.
command -v g++ >/dev/null || skip "g++ is not installed"
tried=0
for library in libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2; do
  path=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
  if [ -z "$path" ]; then
    not_tried "$library is not installed: apt-get install libtcmalloc-minimal4 libjemalloc2 libmimalloc2.0"
    continue
  fi
  tried=$((tried + 1))
  g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/mixed.cc" -o mixed -Wl,--no-as-needed "$path"
  profile ./mixed
  expect_eq "exit status with $library" "$status" 0
  expect_complete
  expect_eq "the allocator" "$(basename "$(json profile.json .heapprof.coverage.allocator)" | cut -c1-12)" "$(echo $library | cut -c1-12)"
  expect_eq "operator new records" "$(json profile.json .heapprof.coverage.new_recorded)" true
  expect_sum '^use_malloc' "12350 10 6175 5"
  expect_sum '^use_new' "12370 10 6185 5"
  expect_sum '^use_aligned' "12390 10 6195 5"
  # Preloaded by the user: ours goes before it.
  g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/mixed.cc" -o plain
  LD_PRELOAD=$path "$HEAPPROF_BIN" run -q -o preloaded.json -- ./plain || fail "with $library preloaded"
  check_profile preloaded.json
  expect_sum '^use_malloc' "12350 10 6175 5" preloaded.json
  expect_sum '^use_new' "12370 10 6185 5" preloaded.json
done
[ $tried -gt 0 ] || skip "none of the allocators is installed"
