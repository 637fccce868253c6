# Totals in bytes and blocks are those of Valgrind's DHAT, for real programs whose counts do not depend on their
# environment (found by running each twice under Valgrind, with environments of different size).
#
# Known differences, all that there are:
#  - malloc(0): Valgrind counts one byte, we count none (target zero_bytes: 7 blocks of no bytes).
#  - libc's and libstdc++'s exit-time frees are off in Valgrind, as they never happen in a program without Valgrind.
#  - Per thread: the agent's thread-local data lengthens libc's table of such by one entry of 16 bytes (zstd starts two
#    threads).
#  - libxml2 seeds its hash tables with the time: both runs of xmllint are told the same one.
command -v valgrind >/dev/null || missing valgrind "valgrind is not installed: apt-get install valgrind"

awk 'BEGIN { x = 7; for (i = 0; i < 2000; ++i) { x = (x * 1103515245 + 12345) % 2147483648; printf "%d word%d %d\n", x % 100000, x % 499, i } }' >lines.txt
awk 'NR % 7 { print } NR % 11 == 0 { print "new " $0 }' lines.txt >changed.txt
awk 'BEGIN { printf "["; for (i = 0; i < 300; ++i) printf "%s{\"id\":%d,\"name\":\"n%d\",\"tags\":[\"a\",\"b%d\"]}", i ? "," : "", i, i, i % 7; print "]" }' >data.json
awk 'BEGIN { print "<r>"; for (i = 0; i < 300; ++i) printf "<e id=\"%d\"><n>x%d</n></e>\n", i, i; print "</r>" }' >data.xml
mkdir -p tree/a/b
cp lines.txt tree/a
cp data.json tree/a/b
echo 'scale=60; for (i=1; i<40; ++i) x+=1/i; x; 2^500; quit' >sum.bc
echo 'local t={} for i=1,3000 do t[#t+1]=("s"..i):rep(3) end table.sort(t) print(#table.concat(t,","))' >sort.lua
echo '{ c[$2] += $1 } END { for (k in c) ++n; print n }' >count.awk
sql='create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<2000) insert into t select x, hex(x*7) from c;
create index i on t(b); select count(*), sum(length(b)) from t where b like "%3%"; select a from t order by b desc limit 3;'

echo '#include <time.h>
time_t time(time_t* at) { if (at) *at = 1234567890; return 1234567890; }' >fixed_time.c
gcc -shared -fPIC -O1 fixed_time.c -o fixed_time.so

compared=0
extra=()
compare() {  # DIFFERENCE_IN_BYTES PROGRAM ARGS…: Valgrind's bytes − ours; blocks are always equal
  local difference=$1 valgrinds ours
  shift
  if ! command -v "$1" >/dev/null; then
    not_tried "$1 is not installed"
    return
  fi
  rm -f dhat.json profile.json
  env -i PATH="$PATH" HOME=/tmp LC_ALL=C "${extra[@]}" valgrind --tool=dhat --run-libc-freeres=no --run-cxx-freeres=no \
    --dhat-out-file=dhat.json "$@" >valgrind_out.txt 2>valgrind_err.txt </dev/null || true
  env -i PATH="$PATH" HOME=/tmp LC_ALL=C "${extra[@]}" "$HEAPPROF_BIN" run -q -o profile.json -- "$@" >our_out.txt 2>our_err.txt </dev/null || true
  [ -f dhat.json ] || { cat valgrind_err.txt; fail "Valgrind wrote no profile of $1"; }
  [ -f profile.json ] || { cat our_err.txt; fail "heapprof wrote no profile of $1"; }
  check_profile profile.json
  expect_complete
  cmp -s our_out.txt valgrind_out.txt || fail "$1 printed something else"
  valgrinds=$(json dhat.json '"\([.pps[].tb] | add // 0) bytes in \([.pps[].tbk] | add // 0) blocks"')
  ours=$(json profile.json "\"\\(([.pps[].tb] | add // 0) + $difference) bytes in \\([.pps[].tbk] | add // 0) blocks\"")
  printf '%-10s %s\n' "$(basename "$1")" "$ours"
  expect_eq "$1: heapprof and Valgrind" "$ours" "$valgrinds"
  compared=$((compared + 1))
}
compare 0 sqlite3 :memory: "$sql"
compare 0 jq 'map(select(.id % 3 == 0)) | group_by(.tags[1]) | map({k: .[0].tags[1], n: length})' data.json
extra=("LD_PRELOAD=$PWD/fixed_time.so")
compare 0 xmllint --xpath 'count(//e[@id mod 2 = 0])' data.xml
compare 0 xmllint --format data.xml
extra=()
compare 0 openssl dgst -sha256 lines.txt
compare 0 bc sum.bc
compare 0 lua5.4 sort.lua
compare 0 tar -cf archive.tar --sort=name tree
compare 0 sort --parallel=1 -S 1M -k2,2 -k1,1n lines.txt
compare 0 diff -u lines.txt changed.txt
compare 0 xz -T1 -kc lines.txt
compare 0 bzip2 -kc lines.txt
compare 0 mawk -f count.awk lines.txt
compare 0 sed -E 's/word([0-9]+)/<\1>/g' lines.txt
compare 0 grep -cE '(word1[0-9]|9+) 1' lines.txt
compare -32 zstd -q -c --single-thread lines.txt
compare 0 find tree -name '*.json'
compare 7 "$TARGETS/zero_bytes"
[ $compared -ge 10 ] || skip "only $compared of the programs are installed"
