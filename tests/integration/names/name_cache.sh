# Names that one run found serve the next, and never a wrong one: files change in place, the cache is broken, shared,
# missing, not ours.
folder=$XDG_CACHE_HOME/heapprof/names

# program N: an executable of build id 11…11 whose function is called make_N; its file is changed in place.
program() {
  printf 'extern "C" void* malloc(unsigned long);\n__attribute__((noinline)) void* make_%s() { return malloc(1235); }\nint main() { return make_%s() == nullptr; }\n' "$1" "$1" >program.cc
  g++ -g -O1 -Wl,--build-id=0x1111111111111111111111111111111111111111 -o new program.cc
  cat new >program
  chmod +x program
}
kept=$folder/1111111111111111111111111111111111111111.names
# run ARGS…: the program's own function, in $name, with its line
run() {
  expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$@" -- ./program
  check_profile p.json
  name=$(jq -r '.ftbl[]' p.json | grep -o 'make_[a-z]*() (.*program.cc:[0-9]*)' | sed 's/ .*program.cc/ /')
}
program first
run
expect_eq "names" "$name" "make_first() :2)"
[ ! -e "$kept" ] || fail "names of a file that is a moment old were kept"
sleep 1.1
run
[ -e "$kept" ] || fail "no names were kept"
jq -S .ftbl p.json >found.json
run
expect_eq "kept names" "$(jq -S .ftbl p.json)" "$(cat found.json)"
# They are what was used: a changed name in the file, its checksum mended, is the one that is shown.
"$PYTHON" - "$kept" <<'PYTHON'
import struct, sys
body = bytearray(open(sys.argv[1], "rb").read()[8:]).replace(b"make_first", b"make_other")
total = len(body)
for i in range(0, len(body), 8):
    word = int.from_bytes(body[i:i + 8], "little")
    total = (total ^ word) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    total ^= total >> 32
open(sys.argv[1], "wb").write(struct.pack("<Q", total) + body)
PYTHON
run
expect_eq "what is read" "$name" "make_other() :2)"
cp "$kept" good
run --no-cache
expect_eq "without the cache" "$name" "make_first() :2)"
cmp -s good "$kept" || fail "--no-cache has written names"

# Broken in any way, it is none: each of these would say make_other.
for length in 0 7 8 100 $(($(stat -c %s good) - 1)); do
  head -c "$length" good >"$kept"
  run
  expect_eq "cut off after $length" "$name" "make_first() :2)"
done
for byte in $(seq 0 97 "$(stat -c %s good)"); do
  cp good "$kept"
  printf '\377' | dd of="$kept" bs=1 seek="$byte" conv=notrunc status=none
  [ "$byte" -lt "$(stat -c %s good)" ] && ! cmp -s good "$kept" || continue
  run
  expect_eq "byte $byte" "$name" "make_first() :2)"
done
rm "$kept"
mkfifo "$kept"
run
expect_eq "a pipe" "$name" "make_first() :2)"
rm "$kept"
ln -s "$PWD/good" "$kept"
run
expect_eq "a link" "$name" "make_first() :2)"

# The file changes in place, and keeps its build id and its size.
rm -f "$kept"
run
[ -e "$kept" ] || fail "no names were kept again"
program again
run
expect_eq "changed in place" "$name" "make_again() :2)"
sleep 1.1
run
run
expect_eq "kept again" "$name" "make_again() :2)"
grep -q make_again "$kept" || fail "what is kept is not what was found last"

# A debug file comes and goes: without debug information nothing is kept, so nothing stands in its way.
objcopy --only-keep-debug program program.debug
strip -o bare program
objcopy --add-gnu-debuglink=program.debug bare
mkdir aside
mv program.debug aside/
cat bare >program
sleep 1.1
run
run
expect_eq "stripped" "$name" ""
mv aside/program.debug .
run
expect_eq "with its debug file" "$name" "make_again() :2)"
sleep 1.1
run
grep -q make_again "$kept" || fail "names of the debug file were not kept"
mv program.debug aside/
run
expect_eq "stripped again" "$name" ""

# Many at once.
rm -rf "$folder"
program many
sleep 1.1
for i in $(seq 8); do "$HEAPPROF_BIN" run -q -o "many.$i.json" -- ./program & done
wait
for i in $(seq 8); do check_profile "many.$i.json"; grep -q 'make_many()' "many.$i.json" || fail "no name in run $i"; done
run
expect_eq "after many" "$name" "make_many() :2)"
expect_eq "left behind" "$(find "$folder" -type f ! -name '*.names')" ""

# No folder, and no reason to complain.
for cache in /dev/null relative /proc/self "$PWD/no/cache" ""; do
  XDG_CACHE_HOME=$cache HOME=$PWD/no expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./program
  expect_eq "what is said with $cache" "$(cat err.txt)" ""
  grep -q 'make_many()' p.json || fail "no name with $cache"
done
[ ! -e relative ] || fail "a relative folder was made"
[ ! -e no ] || fail "a home that was not there was made"
mkdir home
XDG_CACHE_HOME="" HOME=$PWD/home expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./program
[ -e "home/.cache/heapprof/names/${kept##*/}" ] || fail "no names were kept in the home's .cache"
if [ "$(id -u)" = 0 ]; then
  chown -R 12345 "$folder"
  rm -f "$kept"
  run
  expect_eq "another's folder" "$name" "make_many() :2)"
  [ ! -e "$kept" ] || fail "names were written into another's folder"
fi
