# A program that looks at its folder finds no file of heapprof's there by *.json or ls, unless -o names one; when it has
# ended all are there, and none is over a file that has its name.
mkdir folder
echo data >folder/one.json
# The child ends, and its profile is written, before the program looks; by then its own checkpoint has been made, too.
cat >folder/look.sh <<'SCRIPT'
sh -c 'exit 0'
for try in $(seq 600); do
  ls .heapprof.*."$$".json .heapprof.*."$$".*.json >/dev/null 2>&1 && break
  [ $try != 600 ] || exit 9
  sleep 0.1
done
echo taken >heapprof.sh."$$".json
ls
echo *.json
SCRIPT
(cd folder && "$HEAPPROF_BIN" run --interval 50ms --all-processes -- sh look.sh) >out.txt 2>err.txt || fail "status $?"
own=$(find folder -name 'heapprof.sh.*.2.json')
name=$(basename "$own" .2.json)
expect_eq "what the program saw" "$(cat out.txt)" "$name.json
look.sh
one.json
$name.json one.json"
expect_eq "the program's own file" "$(cat "folder/$name.json")" taken
check_profile "$own"
expect_eq "files with a dot" "$(find folder -name '.*.json')" ""
expect_in err.txt "$name.2.json"
[ "$(find folder -name "$name.[0-9]*.json" | wc -l)" -ge 2 ] || fail "the child has no profile: $(ls folder)"
