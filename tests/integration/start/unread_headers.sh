# What neither the kernel nor the loader reads of a file keeps no program from being profiled.
cat >program.c <<'C'
#include <stdlib.h>
int main(void) {
  free(malloc(1235));
  return 3;
}
C
gcc program.c -o program
cat >damage.py <<'P'
import struct, sys
data = bytearray(open("program", "rb").read())
what, target = sys.argv[1:]
headers, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
for i in range(count):
    at = headers + i * size
    kind, = struct.unpack_from("<I", data, at)
    if kind != 2: continue  # PT_DYNAMIC
    dynamic, = struct.unpack_from("<Q", data, at + 8)
    if what == "offset": struct.pack_into("<Q", data, at + 8, 1 << 60)
    if what == "size": struct.pack_into("<Q", data, at + 32, 1 << 60)
    if what == "no_size": struct.pack_into("<Q", data, at + 32, 0)
    if what == "paddr": struct.pack_into("<Q", data, at + 24, 1 << 60)
    while struct.unpack_from("<Q", data, dynamic)[0] != 10: dynamic += 16  # DT_STRSZ
    if what == "strings": struct.pack_into("<Q", data, dynamic + 8, 1 << 60)
if what == "sections":
    struct.pack_into("<Q", data, 40, 1 << 60)
    struct.pack_into("<HHH", data, 58, 7, 9999, 9998)
open(target, "wb").write(data)
P
for what in nothing offset size no_size paddr strings sections; do
  "$PYTHON" damage.py $what damaged
  chmod +x damaged
  status=0
  ./damaged || status=$?
  [ $status = 3 ] || { not_tried "$what: such a program does not run here"; continue; }
  rm -f p*.json
  expect_status 3 "$HEAPPROF_BIN" run -q -o p.json -- ./damaged
  expect_eq "blocks ($what)" "$(jq '[.pps[] | select(.tb == 1235)] | length' p.json)" 1
  rm -f p*.json
  expect_status 3 "$HEAPPROF_BIN" run -q -o p.json -- sh -c './damaged; exit $?'
  expect_eq "blocks as a child ($what)" "$(jq -s '[.[].pps[] | select(.tb == 1235)] | length' p*.json)" 1
done
