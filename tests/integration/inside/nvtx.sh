# Ranges of NVTX, of a program that knows nothing of heapprof, are scopes, and what each came to is what the program
# counted itself, to the byte. Another tool gets what is its own; without one, and without recording, nothing happens.
unset NVTX_INJECTION64_PATH CUDA_INJECTION64_PATH
target=$TARGETS/nvtx_ranges
books() { "$PYTHON" "$SOURCE/tests/support/scope_books.py" "$@"; }
unmatched() { json "${1:-profile.json}" '.heapprof.scopes.unmatched_ends_count // 0'; }
random_case() {  # SEED THREADS OPERATIONS [FLAGS_OF_RUN…]
  local seed=$1 threads=$2 operations=$3
  shift 3
  expect_status 0 "$HEAPPROF_BIN" run -q "$@" -o profile.json -- "$target" random "$seed" "$threads" "$operations" books.txt
  expect_eq "seed $seed: ends of what is not open" "$(unmatched)" "$(cat out.txt)"
  check_profile profile.json
  expect_complete
  books profile.json books.txt || fail "seed $seed, $threads threads, '$*': the ranges are not true"
}
for threads in 1 2 8 64; do random_case $((threads + 20)) $threads 60000; done
random_case 101 4 40000 --clock sequence
random_case 102 16 40000 --collector-threads 2
random_case 103 4 20000 --unwinder libunwind
expect_status 0 "$target" random 1 4 4000 books.txt  # without a profiler

# case_of STATUS COMMAND…: the scopes of the program, sorted, are those on stdin
case_of() {
  local want=$1
  shift
  profile "$target" "$@"
  expect_eq "$1: exit status" "$status" "$want"
  expect_complete
  cat >want.txt
  books profile.json | LC_ALL=C sort >got.txt
  LC_ALL=C sort want.txt | diff - got.txt || fail "$1: other scopes than those"
}
none="0 0 0 0 0 | 0 0 0"
a_umlauts=$(printf 'ä%.0s' {1..60})
case_of 0 messages <<BOOKS
(no message): 4 4 0 0 | $none
(unknown string): 1 1 0 0 | $none
$a_umlauts: 1 1 0 0 | $none
a domain:in a domain: 1 1 0 0 | $none
a domain:registered: 1 1 0 0 | $none
eight ä:in a category: 1 1 0 0 | $none
in a category: 1 1 0 0 | $none
registered: 1 1 0 0 | $none
seven:in a category: 1 1 0 0 | $none
€😀�: 1 1 0 0 | $none
BOOKS
expect_eq "ends of what is not open" "$(unmatched)" 0

profile "$target" levels
expect_eq "levels: exit status" "$status" 0
expect_eq "levels: ends of what is not open" "$(unmatched)" 4
expect_eq "levels that are recorded" "$(books profile.json | awk '/deep: / { sub(/.*: /, ""); n += $1 } END { print n }')" 1024
expect_status 0 "$HEAPPROF_BIN" report --scopes profile.json
expect_in out.txt "4 ends of NVTX without a range"

case_of 0 overlaps <<'BOOKS'
a > other:b: 1 1 0 0 | 11000 2 0 0 11000 | 0 0 0
a: 1 1 0 0 | 100 1 0 0 1100 | 0 0 0
BOOKS
case_of 0 old_name <<'BOOKS'
a > other:b: 1 1 0 0 | 11000 2 0 0 11000 | 0 0 0
a: 1 1 0 0 | 100 1 0 0 1100 | 0 0 0
BOOKS
profile "$target" elsewhere
expect_eq "elsewhere: exit status" "$status" 0
expect_eq "ranges that are started" "$(books profile.json | grep -v '^around')" "never ended: 1 0 0 0 | $none
request: 2 2 0 0 | $none"
expect_eq "ends of what is not open" "$(unmatched)" 1
expect_eq "bytes of the range around them" "$(json profile.json '.heapprof.scopes.scopes[] | select(.name == "around") | .memory[0] | .allocated_bytes >= 100 and .allocated_bytes < 2000')" true
expect_eq "a range that runs has a time" "$(json profile.json '.heapprof.scopes.scopes[] | select(.name == "request") | .time_ns > 0')" true

# A thread that ends in ranges leaves them open. Whether anybody has noticed by the end is open, too.
profile "$target" threads
expect_complete
expect_eq "threads' ranges" "$(books profile.json | sed 's/: .*//' | tr '\n' ',')" "late,thread > never popped,thread,"
expect_eq "their bytes" "$(json profile.json '[.heapprof.scopes.scopes[] | select(.name == "never popped") | .begun_count, .ended_count, .memory[0].allocated_bytes] | tostring')" "[64,0,79040]"

# A child is in none of its parent's ranges, and ends none; of its own it has levels.
rm -f profile*.json
profile "$target" forks
expect_eq "forks: exit status" "$status" 0
expect_complete
expect_eq "the parent's" "$(books profile.json)" "family:parent: 1 1 0 0 | 111 1 0 0 111 | 0 0 0
request: 1 1 0 0 | $none"
child=$(ls profile.*.json)
expect_eq "the child's" "$(books "$child")" "family:parent: 1 1 0 0 | 2470 1 0 0 2470 | 0 0 0"
expect_eq "the child's ends of what is not open" "$(unmatched "$child")" 1
rm -f profile*.json
profile "$target" execs
expect_eq "execs: exit status" "$status" 0
expect_eq "what came by exec, with an empty environment" "$(books profile.json)" "a > other:b: 1 1 0 0 | 11000 2 0 0 11000 | 0 0 0
a: 1 1 0 0 | 100 1 0 0 1100 | 0 0 0"

# Handlers at any moment; errno is as before (the target looks).
profile "$target" timer
expect_eq "timer: exit status" "$status" 0
expect_complete
read -r rounds handled <out.txt
books profile.json >got.txt
expect_eq "work" "$(grep '^work: ' got.txt | cut -d' ' -f1-3,6-10)" "work: $rounds $rounds | $((rounds * 100)) $rounds $((rounds * 100)) $rounds"
expect_eq "handlers' ranges" "$(awk '/handler:/ { sub(/.*:/, ""); begun += $1; ended += $2 } END { print begun, ended }' got.txt)" "$handled $handled"

profile "$target" marks
expect_eq "marks" "$(json profile.json '[.heapprof.scopes.marks[] | "\(.category):\(.name)"] | join(" ")')" ":start :läuft d:in it :in it"

# A program that makes a name for each step: those beyond the table's room are one, and its bytes are all there.
profile "$target" names 6000
expect_complete
named=$(json profile.json '[.heapprof.scopes.scopes[] | select(.name != "(other names)")] | length')
[ "$named" -ge 4000 ] && [ "$named" -le 4096 ] || fail "$named names have room"
expect_eq "bytes in ranges" "$(json profile.json '[.heapprof.scopes.scopes[].memory[0].allocated_bytes] | add')" 96000

case_of 0 other_questions <<'BOOKS'
after: 1 1 0 0 | 10 1 0 0 10 | 0 0 0
BOOKS

# Each object has a table of its own.
nvtx=$TARGETS/nvtx
profile "$target" second "$nvtx/libnvtx_second.so"
expect_eq "second: exit status" "$status" 0
expect_complete
expect_in <(books profile.json) "outer > inner: 1 1 0 0 | 200 1 0 0 200 | 0 0 0"

# Another tool, which the variable names: it hears what it asked for, the program gets its answers, and the ranges are
# scopes as well, what it does not hear of included.
for tool in nvtx_tool nvtx_refusing_tool; do
  export NVTX_INJECTION64_PATH=$nvtx/lib$tool.so
  if [ $tool = nvtx_tool ]; then
    told="levels 100 100, result 1
tool: 2 pushes, 2 pops, 2 starts, 2 ends, 1 marks, 1 domains, 1 strings, 1 categories"
  else  # it takes no part, and heapprof does alone
    told="levels 0 0, result 1
tool: 0 pushes, 0 pops, 0 starts, 0 ends, 0 marks, 0 domains, 0 strings, 0 categories"
  fi
  profile "$target" tool "$NVTX_INJECTION64_PATH"
  expect_eq "$tool: exit status" "$status" 0
  expect_eq "$tool: what it says" "$(cat out.txt)" "$told"
  grep -q "HP208\|HP209\|HP210" err.txt && { cat err.txt; fail "$tool: there is nothing to warn of"; }
  books profile.json | sed 's/ |.*//' | LC_ALL=C sort >got.txt
  diff - got.txt <<'BOOKS' || fail "$tool: other scopes than those"
a > theirs:registered > c: 1 1 0 0
a > theirs:registered: 1 1 0 0
a: 1 0 0 0
b: 1 1 0 0
theirs:registered: 1 1 0 0
BOOKS
  expect_eq "$tool: bytes" "$(json profile.json '.heapprof.scopes.scopes[] | select(.name == "registered" and .parent != 0) | .memory[0].allocated_bytes')" 1000
  expect_eq "$tool: ends of what is not open" "$(unmatched)" 0
done
# The tool alone, where heapprof is told to leave NVTX alone, and where it is not there.
NVTX_INJECTION64_PATH=$nvtx/libnvtx_tool.so
"$target" tool "$NVTX_INJECTION64_PATH" >want.txt
expect_status 0 "$HEAPPROF_BIN" run -q --no-nvtx -o profile.json -- "$target" tool "$NVTX_INJECTION64_PATH"
diff want.txt out.txt || fail "the tool hears something else"
expect_eq "scopes with --no-nvtx" "$(json profile.json '.heapprof | has("scopes")')" false
unset NVTX_INJECTION64_PATH
expect_status 0 "$HEAPPROF_BIN" run -q --no-nvtx -o profile.json -- "$target" overlaps
expect_eq "scopes with --no-nvtx, and no other tool" "$(json profile.json '.heapprof | has("scopes")')" false
expect_status 0 "$HEAPPROF_BIN" run -q --no-nvtx -o profile.json -- env
expect_not_in out.txt NVTX_INJECTION

# A tool that comes later has the tables of who uses NVTX first from then on; that is said.
profile "$target" other_tool_later "$nvtx/libnvtx_second.so" "$nvtx/libnvtx_tool.so"
expect_eq "other_tool_later: exit status" "$status" 0
expect_in err.txt "1 library or program uses NVTX with another tool than those before"
expect_eq "ranges that are seen" "$(books profile.json | sed 's/ |.*//')" "outer > outer: 1 1 0 0
outer: 1 1 0 0"

# A tool that is not there, and one of the CUDA driver's, which may want NVTX for itself.
NVTX_INJECTION64_PATH=$PWD/missing.so profile "$target" overlaps
expect_in err.txt "NVTX_INJECTION64_PATH names $PWD/missing.so, which cannot be read (no such file or directory)"
expect_eq "scopes without the tool" "$(json profile.json '.heapprof | has("scopes")')" false
CUDA_INJECTION64_PATH=$PWD/missing.so profile "$target" overlaps
expect_in err.txt "CUDA_INJECTION64_PATH names $PWD/missing.so"
expect_eq "scopes where heapprof stands back" "$(json profile.json '.heapprof | has("scopes")')" false

# heapprof within heapprof: each program is the inner one's.
expect_status 0 "$HEAPPROF_BIN" run -q -o outer.json -- "$HEAPPROF_BIN" run -q -o inner.json -- "$target" overlaps
expect_eq "the inner run's" "$(books inner.json | tail -1)" "a: 1 1 0 0 | 100 1 0 0 1100 | 0 0 0"

# What the program sees of it: nothing in its environment, nor on its heap, wherever it calls NVTX for the first time.
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- env
expect_not_in out.txt NVTX_INJECTION
want=$("$target" addresses)
profile "$target" addresses
expect_eq "the distance of two blocks" "$(cat out.txt)" "$want"
expect_eq "their range" "$(books profile.json)" "between: 1 1 0 0 | 24 1 0 0 24 | 0 0 0"
profile "$target" first_in_handler
expect_eq "first_in_handler: exit status" "$status" 0
profile "$target" first_behind_filter
expect_eq "first_behind_filter: exit status" "$status" 0
expect_in out.txt alive

# The agent by the variable alone, not preloaded: nothing happens, and the program goes on.
agent=$(dirname "$HEAPPROF_BIN")/../lib/heapprof/libheapprof.so
NVTX_INJECTION64_PATH=$agent expect_status 0 "$target" overlaps
NVTX_INJECTION64_PATH=$agent expect_status 0 "$target" tool nowhere
expect_eq "what the program was told" "$(cat out.txt)" "levels -2 -2, result -1"

# In a folder whose name LD_PRELOAD cannot hold it is the agent's all the same, by a link.
mkdir -p "a b/bin" "a b/lib"
cp "$HEAPPROF_BIN" "a b/bin/heapprof"
cp -r "$(dirname "$agent")" "a b/lib/heapprof"
rm -f profile.json
expect_status 0 "a b/bin/heapprof" run -q -o profile.json -- "$target" tool nowhere
expect_eq "what the program was told" "$(cat out.txt)" "levels 0 0, result 1"
