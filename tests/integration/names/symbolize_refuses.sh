# Debug files that are not the module's, are broken, or cannot be written from: a profile is never named by guess, and
# never half written.
cp "$TARGETS/leaky" prog
mkdir symbols
objcopy --only-keep-debug prog symbols/prog.debug
strip -s prog
"$HEAPPROF_BIN" run -q -o bare.json -- ./prog || fail "prog fails"
unchanged() { cmp -s bare.json "${1:-p.json}" || fail "$2: the profile changed"; }
nameless() {  # WHY: nothing in the folder names the program
  cp bare.json p.json
  expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols p.json
  expect_in err.txt "named  0 of "
  unchanged p.json "$1"
}

# It would do: what follows fails for its own reason.
cp bare.json p.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols p.json
expect_sum '^leak_blocks' "6175 5 6175 5" p.json
cp symbols/prog.debug right.debug
id=$(readelf -n right.debug | awk '/Build ID/ { print $3 }')

# Another build of that name; a flipped bit of the id; none at all.
objcopy --only-keep-debug "$TARGETS/inlined" symbols/prog.debug
nameless "another build"
expect_in err.txt "symbols/prog.debug is of another build"
expect_in err.txt "no debug file of build id $id"
objcopy --remove-section .note.gnu.build-id right.debug symbols/prog.debug
nameless "no build id"

# Cut off anywhere, or noise in its middle: its names are lost, nothing else.
size=$(stat -c %s right.debug)
for part in 1 2 5 9; do
  head -c $((size * part / 10)) right.debug >symbols/prog.debug
  cp bare.json p.json
  expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols p.json
  check_profile p.json
done
cp right.debug symbols/prog.debug
head -c 4000 /dev/urandom | dd of=symbols/prog.debug bs=1 seek=$((size / 2)) conv=notrunc status=none
cp bare.json p.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols p.json
check_profile p.json

# A pipe of the debug file's name is not opened.
rm symbols/prog.debug
mkfifo symbols/prog.debug
nameless "a pipe"
rm symbols/prog.debug
cp right.debug symbols/prog.debug

# Without a build id in the profile nothing is guessed, though the file itself stands there with all its names.
cp "$TARGETS/leaky" prog
jq -c '.heapprof.modules[].build_id = ""' bare.json >anonymous.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols -o p.json anonymous.json
expect_in err.txt "it has no build id"
jq -r '.ftbl[]' p.json | grep -qF leak_blocks && fail "a module without a build id was named"
# A build id that would lead out of the folder, or is none.
for bad in ../../../etc/passwd 00 ABCDEF0123456789 "$(printf 'a%.0s' {1..5000})"; do
  jq -c --arg id "$bad" '.heapprof.modules[].build_id = $id' bare.json >odd.json
  expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols -o p.json odd.json
  check_profile p.json
  jq -r '.ftbl[]' p.json | grep -qF leak_blocks && fail "a module of the build id '$bad' was named"
done
# Paths that are devices or pipes are not opened.
mkfifo pipe
for path in "$PWD/pipe" /dev/zero /dev/stdin ""; do
  jq -c --arg path "$path" '.heapprof.modules[].path = $path' bare.json >odd.json
  "$HEAPPROF_BIN" symbolize --no-debuginfod -o p.json odd.json 2>err.txt </dev/null || { cat err.txt >&2; fail "path '$path'"; }
done

# A full disk, a folder that cannot be written to: the profile is as it was, and no temporary is left.
cp bare.json p.json
expect_status 1 bash -c 'ulimit -f 2; trap "" XFSZ; exec "$0" symbolize --debug-dir symbols p.json' "$HEAPPROF_BIN"
expect_in err.txt "[HP032]"
unchanged p.json "a full disk"
expect_eq "temporaries" "$(find . -name '.p.json*' | wc -l)" 0
expect_status 1 "$HEAPPROF_BIN" symbolize --debug-dir symbols -o nowhere/p.json bare.json
expect_in err.txt "[HP031]"

# Who may read it stays; what was packed stays packed.
chmod 644 p.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols p.json
expect_eq "mode" "$(stat -c %a p.json)" 644
cp p.json plain.json
gzip -c bare.json >packed.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols packed.json
cmp <(gzip -dc packed.json) plain.json || fail "a packed profile gets other names"
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols -q -o out.json.gz bare.json
cmp <(gzip -dc out.json.gz) plain.json || fail "-o OUT.gz is not packed"
[ ! -s err.txt ] || fail "-q says something"
# Several at once.
cp bare.json a.json && cp bare.json b.json
expect_status 0 "$HEAPPROF_BIN" symbolize --debug-dir symbols a.json b.json
cmp a.json plain.json && cmp b.json plain.json || fail "one of several profiles differs"
