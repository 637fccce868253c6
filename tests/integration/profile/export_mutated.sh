# Profiles with anything in them are refused, or exported in every format and table; nothing crashes, and what comes out
# is whole: JSON is JSON, a graph is a graph, a trace names nothing that it does not have.
"$BUILD/tests/make_profile" small >small.json
"$HEAPPROF_BIN" run -q --interval 10ms -o snapshots.json -- "$TARGETS/snapshots" 1 2 20 exit books.txt >out.txt
"$HEAPPROF_BIN" run -q -o scopes.json -- "$TARGETS/instances" 2 2 20 books.txt exit >out.txt
cat >mutate.py <<'PY'
import json, random, sys
random.seed(int(sys.argv[2]))
values = [0, 1, 2, 7, 1000, -1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, "", "x", "\n\"\\;'<&>\u202e\x1b[1m", "=1+1", [], {}, None, True, 1.5]
def places(node, path=()):
    for key, child in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
        yield node, key
        yield from places(child)
profile = json.load(open(sys.argv[1]))
all_places = list(places(profile))
for _ in range(random.choice([1, 1, 1, 2, 5])):
    node, key = random.choice(all_places)
    try:
        old = node[key]
    except (KeyError, IndexError):
        continue
    alike = [value for value in values if type(value) is type(old)] or values
    node[key] = random.choice(alike if random.random() < 0.97 else values)
json.dump(profile, open("m.json", "w"))
PY
tables=$("$HEAPPROF_BIN" report --table no-such-table m.json 2>&1 | sed -nE 's/.*--table takes (.*), not .*/\1/p' | sed 's/ or /, /; s/,//g')
read_well=0
rounds=${HEAPPROF_LONG:+40}
for seed in $(seq 1 "${rounds:-12}"); do
  for source in small snapshots scopes; do
    "$PYTHON" mutate.py $source.json "$seed"
    status=0
    "$HEAPPROF_BIN" report m.json >out.txt 2>err.txt || status=$?
    [ $status = 0 ] || [ $status = 3 ] || fail "report ends with $status: seed $seed of $source"
    [ $status = 0 ] || continue
    read_well=$((read_well + 1))
    for format in perfetto dot sites folded speedscope pprof dhat; do
      "$HEAPPROF_BIN" export -q --format $format -o m.$format m.json 2>err.txt || fail "$format ends with $?: seed $seed of $source"
    done
    "$PYTHON" "$SOURCE/tests/support/perfetto.py" --alone m.perfetto >wrong.txt 2>&1 || { cat wrong.txt >&2; fail "perfetto: seed $seed of $source"; }
    jq -c .metric m.sites >out.txt || fail "sites are no JSON: seed $seed of $source"
    if have dot; then dot -Tdot_json m.dot >graph.json 2>err.txt || fail "dot refuses the graph: seed $seed of $source"; fi
    table=$(shuf -n 1 --random-source=<(yes "$seed$source") <<<"${tables// /$'\n'}")
    for table in "$table" places tree scopes instances; do
      "$HEAPPROF_BIN" report --table "$table" --format json m.json 2>err.txt | jq -e '.rows' >out.txt || fail "table $table: seed $seed of $source"
    done
  done
done
[ $read_well -ge 5 ] || fail "nearly all were refused: $read_well are left"
