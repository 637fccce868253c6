# What an allocator maps for itself is the heap's affair: of a program on libc, tcmalloc, jemalloc or mimalloc only what
# the program maps is seen as mapped.
command -v g++ >/dev/null || skip "g++ is not installed"
g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/maps.cc" -o maps -pthread
for library in libc.so.6 libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2; do
  path=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
  if [ -z "$path" ]; then
    not_tried "$library is not installed: apt-get install libtcmalloc-minimal4 libjemalloc2 libmimalloc2.0"
    continue
  fi
  preload=$path
  [ $library = libc.so.6 ] && preload=
  LD_PRELOAD=$preload profile ./maps
  expect_eq "exit status with $library" "$status" 0
  expect_complete
  expect_eq "what is mapped with $library" "$(jq -c '[.heapprof.devices[] | select(.name != "host") | [.name, .totals.total_bytes, .totals.total_count]]' profile.json)" \
    '[["mapped",126976,1]]'
done
# An allocator in the executable maps by syscall(): that is the heap's, too.
if g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/maps.cc" -o maps_static -pthread -l:libtcmalloc_minimal.a -lunwind 2>link.txt; then
  TCMALLOC_SKIP_SBRK=1 profile ./maps_static
  expect_eq "exit status of a static tcmalloc" "$status" 0
  jq -e '[.heapprof.devices[] | select(.name != "host") | .totals.total_bytes] | add // 0 | . <= 126976' profile.json >/dev/null ||
    fail "what a static tcmalloc maps is counted again: $(json profile.json '.heapprof.devices | map([.name, .totals.total_bytes])')"
else
  not_tried "a static tcmalloc: $(head -n 1 link.txt)"
fi
