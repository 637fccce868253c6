# Real programs, judged as Valgrind judges them: what is lost definitely, indirectly and possibly is the same, in bytes
# and blocks.
have valgrind || missing valgrind "Valgrind is not installed: apt-get install valgrind"
numbers=6
compare() {  # PROGRAM ARGUMENTS…; of the six numbers so many are compared
  "$HEAPPROF_BIN" run -q --leak-check -o profile.json -- "$@" >out.txt 2>err.txt || fail "heapprof: $*"
  valgrind --leak-check=full --show-leak-kinds=none --run-libc-freeres=no --run-cxx-freeres=no --log-file=valgrind.txt "$@" >out.txt 2>&1 ||
    fail "valgrind: $*"
  check_profile profile.json
  expect_eq "the check of '$*'" "$(json profile.json .heapprof.leak_check.made)" true
  local ours theirs
  ours=$(json profile.json '.heapprof.devices[0].sites |
    [.lost_bytes, .lost_count, .indirectly_lost_bytes, .indirectly_lost_count, .possibly_lost_bytes, .possibly_lost_count] | map(. // [] | add // 0) | join(" ")')
  theirs=$("$PYTHON" - valgrind.txt <<'PY'
import re
import sys
text = open(sys.argv[1]).read()
numbers = []
for kind in ("definitely", "indirectly", "possibly"):
    found = re.search(kind + r" lost: ([\d,]+) bytes in ([\d,]+) blocks", text)
    numbers += [n.replace(",", "") for n in found.groups()] if found else ["0", "0"]
print(" ".join(numbers))
PY
  )
  ours=$(cut -d" " -f1-$numbers <<<"$ours")
  theirs=$(cut -d" " -f1-$numbers <<<"$theirs")
  echo "$1: bytes and blocks lost, by way of others, possibly: $ours, Valgrind: $theirs"
  expect_eq "what '$*' loses" "$ours" "$theirs"
}
compare "$TARGETS/leaky"
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
for program in sqlite3 jq openssl perl curl xz; do
  have $program || { not_tried "$program is not installed"; continue; }
  case $program in
    sqlite3) compare sqlite3 :memory: "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select count(*), max(b) from t;" ;;
    jq) compare jq -n '[range(2000)] | map({a: ., b: "x\(.)"}) | group_by(.a % 7) | length' ;;
    # Its environment, which is another under heapprof, is in tables to which it keeps inner pointers.
    perl) numbers=4 compare perl -e 'my %h; for (1..1000) { $h{$_} = [1..5] } my $a = {}; $a->{x} = $a; print 1' ;;
    curl | xz) compare $program --version ;;
    openssl) compare openssl dgst -sha256 "$TARGETS/leaky" ;;
  esac
done
