# heapprof report without a file takes the newest profile of the folder, and says which on stderr; what is no profile,
# no file or older is passed over.
cp "$small" old.json
cp "$small" heapprof.render.4711.json
gzip -c "$foreign/valgrind_heap.json" >packed.json.gz
cp "$foreign/valgrind_heap.json" dhat.out.77
echo '{"name": "package"}' >package.json
mkfifo pipe.json
mkdir folder.json
touch -d 2026-01-01 old.json
touch -d 2026-01-02 packed.json.gz
touch -d 2026-01-03 dhat.out.77
touch -d 2026-01-04 heapprof.render.4711.json

newest_is() {
  expect_status 0 timeout 60 "$HEAPPROF_BIN" report "${@:2}"
  expect_eq "said" "$(head -1 err.txt)" "heapprof: $1 is the newest profile here"
  "$HEAPPROF_BIN" report "${@:2}" "$1" >want.txt 2>/dev/null
  cmp out.txt want.txt || fail "it is not the report of $1"
}
newest_is heapprof.render.4711.json
newest_is heapprof.render.4711.json --format json
expect_not_in out.txt "newest"
mv heapprof.render.4711.json ..
newest_is dhat.out.77
rm dhat.out.77
newest_is packed.json.gz
rm packed.json.gz
newest_is old.json

# Of files that are as old as each other the program's own, not those of what it started.
cp "$small" old.4712.json
touch -r old.json old.4712.json
newest_is old.json

# One that cannot be opened is passed over; names that look like flags, and hostile ones.
[ "$(id -u)" = 0 ] || { cp "$small" secret.json && chmod 0 secret.json && newest_is old.json; }
cp "$small" ./--tree.json
newest_is ./--tree.json
rm -- --tree.json
cp "$small" $'evil\033[2J.json'
expect_status 0 "$HEAPPROF_BIN" report
expect_eq "raw escapes" "$(grep -c $'\033' err.txt || true)" 0

# A folder that is not there any more.
mkdir gone && cd gone && rmdir ../gone
status=0
"$HEAPPROF_BIN" report >/dev/null 2>../err.txt || status=$?
cd ..
expect_eq "status in no folder" "$status" 2
expect_in err.txt "[HP056]"
