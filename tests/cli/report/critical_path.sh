# report --critical-path shows which runs through scopes made up the time, as the manual page's example has it.
expect_status 0 "$HEAPPROF_BIN" run -q -o whole.json "$TARGETS/instances" 1 2 30 books.txt exit
cat >scopes.jq <<'JQ'
def runs(rows): {begin_ns: [rows[][0] * 1000000], end_ns: [rows[][1] * 1000000], thread: [rows[][2]],
  growth_bytes: [rows[] | 0], memory: []};
def scope(name; outer; rows): (if outer == 0 then {} else {parent: outer} end) + {name: name,
  begun_count: (rows | length), ended_count: (rows | length), left_open_count: 0, time_ns: 0, own_time_ns: 0,
  shortest_ns: 0, longest_ns: 0, items_count: 0, kernel_launches_count: 0, durations_count: [], memory: [], calls: [],
  instances: runs(rows)};
.heapprof.scopes.marks = [] | .heapprof.scopes.scopes = [scope("decode"; 0; [[30, 70, 2], [30, 45, 3]]),
  scope("encode"; 0; [[48, 60, 3]]), scope("serve"; 0; [[0, 100, 1]]), scope("parse"; 3; [[5, 25, 1]]),
  scope("write"; 3; [[80, 95, 1]])]
JQ
jq -c -f scopes.jq whole.json >r.json
expect_status 0 "$HEAPPROF_BIN" report --critical-path r.json
sed -n '/^CRITICAL PATH/,$p' out.txt >path.txt
diff -u - path.txt <<'WORDS'
CRITICAL PATH  3 of 5 innermost runs, one after the other: 75 ms of 100 ms; 25 ms between, before
  and behind them
     start    gap   took  thread  run
0.005000 s   5 ms  20 ms       1  serve > parse
0.030000 s   5 ms  40 ms       2  decode
0.080000 s  10 ms  15 ms       1  serve > write

on it  of runs   time   share  least slack  scope
    1        2  40 ms  40.0 %        10 ms  decode
    1        1  20 ms  20.0 %               serve > parse
    1        1  15 ms  15.0 %               serve > write
    0        1   0 ns     0 %        10 ms  encode
WORDS

expect_status 0 "$HEAPPROF_BIN" report --critical-path --format json r.json
expect_eq "runs" "$(jq -c '[.critical_path.runs[] | [.scope, .begin_ns / 1e6, .end_ns / 1e6, .gap_ns / 1e6, .thread]]' out.txt)" \
  '[["serve > parse",5,25,5,1],["decode",30,70,5,2],["serve > write",80,95,10,1]]'
expect_eq "sums" "$(jq -c '[.critical_path.scopes[] | [.scope, .runs_count, .on_path_count, .on_path_ns / 1e6, (.least_slack_ns // 0) / 1e6]]' out.txt)" \
  '[["decode",2,1,40,10],["serve > parse",1,1,20,0],["serve > write",1,1,15,0],["encode",1,0,0,10]]'
expect_eq "times" "$(jq -c '.critical_path | [.begin_ns, .end_ns, .in_runs_ns, .runs_count, .not_all_kept]' out.txt)" '[0,100000000,75000000,5,[]]'
expect_status 0 "$HEAPPROF_BIN" report --format json r.json
expect_eq "without the flag" "$(jq 'has("critical_path")' out.txt)" false

# A mark is a run that takes no time; runs that were not kept are said, and so are those that never ended.
jq -c '.heapprof.scopes.marks = [{category: "io", name: "loaded", at_ns: 75000000, thread: 2, memory: []}] |
  .heapprof.scopes.scopes[0] |= (.begun_count += 7 | .unkept_instances_count = 7 | .instances.flags = [2, 0])' r.json >m.json
expect_status 0 "$HEAPPROF_BIN" report --critical-path --top 2 m.json
expect_in out.txt "CRITICAL PATH  4 of 6 innermost runs"
expect_in out.txt "decode, open at the end"
expect_in out.txt "the 2 longest of 4, in the order of time (--top, --format json)"
expect_in out.txt "and 3 further scopes (--top, --format json)"
expect_in out.txt "Not all runs were kept, and the path may lack some: of decode (7 left out)"
expect_status 0 "$HEAPPROF_BIN" report --critical-path m.json
expect_in out.txt "mark io: loaded"

# Of a real program with threads, every run of whose path begins where the one before it has ended.
expect_status 0 "$HEAPPROF_BIN" report --critical-path --format json whole.json
expect_eq "in order" "$(jq '.critical_path | .begin_ns as $begin | .runs | length > 0 and
  ([range(length) as $i | .[$i].begin_ns - .[$i].gap_ns == (if $i == 0 then $begin else .[$i - 1].end_ns end)] | all)' out.txt)" true

expect_status 0 "$HEAPPROF_BIN" merge -q -o merged.json whole.json r.json
refused 2 report --critical-path merged.json <<'WORDS'
heapprof: error: merged.json has scopes, but no single runs through them, as merged profiles have none [HP223]
  fix:     name the profile of one process, as heapprof run writes it
  instead: see what the scopes came to: heapprof report --scopes merged.json
WORDS
expect_status 0 "$HEAPPROF_BIN" run -q -o none.json true
refused 2 report --critical-path none.json <<'WORDS'
heapprof: error: none.json has no scopes, whose runs could make up a critical path [HP223]
  fix:     name operations of the program, HEAPPROF_SCOPE("parse"), and record it again: man heapprof.3
  instead: look at what it has of the whole run: heapprof report none.json
WORDS
for flags in --stable --tree --findings --snapshots "--format csv" "--format dot" "--device host"; do
  # shellcheck disable=SC2086 # several flags
  expect_status 2 "$HEAPPROF_BIN" report --critical-path $flags r.json
done
