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
# Its time of change is what is looked at, too, which cannot be set back: where names are to be kept, it sleeps.
touch -d '+1 hour' program
run
expect_eq "names" "$name" "make_first() :2)"
[ ! -e "$kept" ] || fail "names of a file that is a moment old were kept"
touch program
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
# A copy of heapprof is the same build, wherever it lies.
mkdir -p copy/bin
cp "$HEAPPROF_BIN" copy/bin
ln -s "$(dirname "$HEAPPROF_BIN")/../lib" copy/lib
HEAPPROF_BIN=$PWD/copy/bin/heapprof run
expect_eq "what a copy reads" "$name" "make_other() :2)"
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

# A debug file comes and goes: what was kept without it does not stand in its way.
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
grep -q -a "/usr/lib/debug/.build-id/11/1" "$kept" || fail "of a stripped program nothing was kept"
grep -q make_again "$kept" && fail "what is kept is not what was found last"
mv aside/program.debug .
run
expect_eq "with its debug file" "$name" "make_again() :2)"
sleep 1.1
run
grep -q make_again "$kept" || fail "names of the debug file were not kept"
mv program.debug aside/
run
run
expect_eq "stripped again" "$name" ""
mkdir .debug
mv aside/program.debug .debug/
run
expect_eq "with its debug file in .debug" "$name" "make_again() :2)"

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
# Whatever names a file of the same build id has, now or at another moment of the run, each program's are its own: what
# a run with a cache says is what one without says. said PATH ARGS…: the functions that the program itself has, then
said() {
  local cached plain
  expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- "$@"
  cached=$(jq -r '.ftbl[]' p.json | grep -o '[a-z]*_[a-z]*() (.*same.cc' | sed 's/().*//' | sort | paste -sd ' ')
  expect_status 0 "$HEAPPROF_BIN" run -q --no-cache -o p.json -- "$@"
  plain=$(jq -r '.ftbl[]' p.json | grep -o '[a-z]*_[a-z]*() (.*same.cc' | sed 's/().*//' | sort | paste -sd ' ')
  expect_eq "with a cache, $*" "$cached" "$plain"
  expect_eq "$*" "$cached" "$name"
}
same() {
  printf '#include <cstdlib>\nvoid* volatile kept;\n__attribute__((noinline)) void %s_one() { kept = malloc(1000); }\n__attribute__((noinline)) void %s_two() { kept = malloc(1000); }\nint main(int count, char**) { count > 1 ? %s_two() : %s_one(); }\n' "$1" "$1" "$1" "$1" >same.cc
  g++ -g -O1 -Wl,--build-id=0x2222222222222222222222222222222222222222 -o "$1" same.cc
  objcopy --only-keep-debug "$1" "$1.debug"
}
same old
same new
sleep 1.1
name=old_one said ./old
"$HEAPPROF_BIN" run -q -o p.json -- sh -c './old; ./new more'
name=old_two said ./old more
name=new_two said ./new more
name=new_one said ./new
# The debug file is replaced while the run goes on.
strip -o bare old
objcopy --add-gnu-debuglink=old.debug bare
cp old.debug aside/
cp new.debug aside/
sleep 1.1
name=old_one said ./bare
"$HEAPPROF_BIN" run -q -o p.json -- sh -c './bare; sleep 1.2; cp aside/new.debug old.debug; sleep 1.2; ./bare more'
name=new_one said ./bare
name=new_two said ./bare more
# Within one run: a path that has another program the second time, and a stripped program before the whole one.
functions() { jq -r '.ftbl[]' "$@" | grep -o '[a-z]*_[a-z]*() (.*same.cc' | sed 's/().*//' | sort | paste -sd ' '; }
strip -o stripped new
for order in 'cp -f old it; ./it; rm it; cp -f new it; ./it' 'cp -f stripped it; ./it; cp -f new other; ./other'; do
  rm -f it it.*json
  expect_status 0 "$HEAPPROF_BIN" run -q -o it.json -- sh -c "$order"
  expect_eq "functions in $order" "$(functions it*.json | tr ' ' '\n' | sort -u | paste -sd ' ')" \
    "$([ "$order" = "${order#cp -f old}" ] && echo new_one || echo new_one old_one)"
done

# What dwz has moved to a file that is not there is not known, and names without it are not kept.
if command -v dwz >/dev/null; then
  for i in first second; do
    printf '#include <cstdlib>\n#include "common.h"\nint main() { return common::take(%s) == nullptr; }\n' "${#i}000" >same.cc
    printf 'namespace common { inline void* inlined_taker(int n) { return malloc(n); }\n__attribute__((noinline)) inline void* take(int n) { char* p = static_cast<char*>(inlined_taker(n)); p[0] = 1; return p; } }\n' >common.h
    g++ -g -O2 -gdwarf-4 -Wl,--build-id -o "dwz.$i" same.cc
  done
  if dwz -m common.dwz -M common.dwz dwz.first dwz.second 2>/dev/null && [ -e common.dwz ]; then
    mv common.dwz away
    sleep 1.1
    expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./dwz.first
    mv away common.dwz
    expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./dwz.first
    grep -q inlined_taker p.json || fail "names without dwz's supplement were kept"
  fi
fi

# A link in place of the folder leads nowhere, and nothing is removed there.
rm -rf "$folder"
mkdir photos
truncate -s 300M photos/1234.names
ln -s "$PWD/photos" "$folder"
name=new_one said ./new
[ "$(ls photos)" = 1234.names ] || fail "heapprof wrote or removed files where a link led: $(ls photos)"
if [ "$(id -u)" = 0 ]; then
  rm "$folder"
  name=new_one said ./new
  rm "$folder"/*
  chown -R 12345 "$folder"
  name=new_one said ./new
  [ -z "$(ls "$folder")" ] || fail "names were written into another's folder"
fi
