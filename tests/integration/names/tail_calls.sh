# Functions that were left by a jump stand in the stacks again where one path alone leads there, and are marked; else
# only the one that was called, which is certain. Compiled by gcc and clang, with both forms of debug information.
have gcc || skip "no gcc"
source=$SOURCE/tests/targets/names/tail_calls

# compiled NAME COMPILER FLAGS…
compiled() {
  local name=$1 compiler=$2
  shift 2
  "$compiler" -O2 -g "$@" "$source/main.c" "$source/far.c" -o "$name"
}
# expect_stack FUNCTION WANT: the stack of its allocation
expect_stack() { expect_eq "$program: stack of $1" "$(stacks "^$1 " | sed 's/ < __libc_start.*//')" "$2"; }
# below CALLER WANT: what stands inside of it
below() { expect_eq "$program: inside of $1" "$(stacks "^$1 " | sed "s/ < $1 < .*//")" "$2"; }

# What every compiler says of its jumps.
expect_paths() {
  expect_stack leaf_one "leaf_one < [left_one] < call_one < main"
  expect_stack leaf_two "leaf_two < [left_two_inner] < [left_two_outer] < call_two < main"
  expect_stack leaf_fork "leaf_fork < [fork_both] < call_fork < main"
  expect_stack leaf_indirect "leaf_indirect < [left_indirect] < call_indirect < main"
  expect_stack leaf_beside "leaf_beside < [left_beside] < call_beside < main"
  expect_stack leaf_round "leaf_round < [round_even] < call_round < main"
  expect_stack leaf_itself "leaf_itself < [left_itself] < call_itself < main"
  expect_stack leaf_inlined "leaf_inlined < [jump_inlined] < [left_inlined] < call_inlined < call_inlined_all < main"
  expect_stack leaf_several "leaf_several < [left_several] < call_several < main"
  expect_stack leaf_freeing "leaf_freeing < [left_freeing] < call_freeing < main"
  expect_stack leaf_far "leaf_far < [left_far] < call_far < main"
  expect_stack leaf_back "leaf_back < [left_back] < [far_to_back] < call_back < main"
  expect_stack leaf_last "leaf_last < left_last < main"
}
# The last of the functions jumps into another module, which clang does not describe.
expect_wraps() {
  expect_stack leaf_other "leaf_other < [left_other] < call_other < main"
  below call_wrap "[wrap]"
  below call_wrap_twice "[wrap] < [wrap_twice]"
  below call_wrap_any "[wrap_any]"
  below call_wrap_other "[wrap_other]"
}

for version in 5 4; do
  program=gcc_$version
  compiled $program gcc -gdwarf-$version
  profile ./$program
  expect_paths
  expect_wraps
  # A jump has its line; of two nobody knows which it was.
  frames '^(left_one|wrap) ' >said
  expect_in said "main.c:$(line_of "$source/main.c" "mark: left_one"))"
  expect_in said "main.c:$(line_of "$source/main.c" "mark: wrap"))"
done
for flags in -no-pie -flto -gsplit-dwarf "-ffunction-sections -freorder-functions" -fno-plt; do
  program="gcc $flags"
  # shellcheck disable=SC2086
  compiled gcc_flags gcc $flags
  profile ./gcc_flags
  expect_stack leaf_two "leaf_two < [left_two_inner] < [left_two_outer] < call_two < main"
  expect_stack leaf_fork "leaf_fork < [fork_both] < call_fork < main"
  below call_wrap "[wrap]"
done
if have clang; then
  for version in 5 4; do
    program=clang_$version
    compiled $program clang -gdwarf-$version
    profile ./$program
    expect_paths
    below call_wrap "[wrap]"
    below call_wrap_twice "[wrap_twice]"  # clang does not say that it jumps to malloc
  done
else
  not_tried "clang's debug information: no clang"
fi

program=cpp
g++ -O2 -g "$source/cpp.cc" -o cpp
profile ./cpp
cpp_stack() { expect_eq "$program: stack of $1" "$(stacks "$1" | sed 's/ < __libc_start.*//')" "$2"; }
cpp_stack '^shop::leaf_shelf' "shop::leaf_shelf < [shop::Shelf::fill] < call_shelf < main"
cpp_stack '^shop::leaf_virtual' "shop::leaf_virtual < call_virtual < main"
cpp_stack 'leaf_hidden' "shop:: < [shop::] < call_hidden < main"
cpp_stack "^call_many" "operator new < [int* shop::make_many<int>] < call_many < main"

# Unoptimised code jumps nowhere.
gcc -O0 -g "$source/main.c" "$source/far.c" -o unoptimised
program=unoptimised
profile ./unoptimised
expect_eq "$program: inferred frames" "$(json profile.json '.heapprof.frames.inferred | length')" 0

# Without debug information the code says what was called, and only that is certain: not what is called through a
# pointer, nor which way the jumps went on.
gcc -O2 "$source/main.c" "$source/far.c" -o undescribed
program=undescribed
profile ./undescribed
expect_stack leaf_one "leaf_one < [left_one] < call_one < main"
expect_stack leaf_two "leaf_two < [left_two_outer] < call_two < main"
expect_stack leaf_far "leaf_far < [left_far] < call_far < main"
below call_wrap "[wrap]"
below call_wrap_twice "[wrap_twice]"
g++ -O2 "$source/cpp.cc" -o undescribed_cpp
program=undescribed_cpp
profile ./undescribed_cpp
cpp_stack '^shop::leaf_shelf' "shop::leaf_shelf < [shop::Shelf::fill] < call_shelf < main"
cpp_stack '^shop::leaf_virtual' "shop::leaf_virtual < call_virtual < main"

# Where gdb shows a path it is ours; but it shows a jump's inlined function or the one around it, not both.
if have gdb; then
  arguments=(-batch -nx -ex "set debuginfod enabled off" -ex "rbreak ^leaf_" -ex run)
  for i in $(seq 14); do arguments+=(-ex bt -ex continue); done
  gdb "${arguments[@]}" ./gcc_5 >gdb.txt 2>/dev/null </dev/null || true
  sed -nE 's/^#([0-9]+) +(0x[0-9a-f]+ in )?([a-z_]+) .*/\1 \3/p' gdb.txt |
    awk '$1 == 0 { if (line) print line; line = $2; next } { line = line " < " $2 } END { print line }' |
    grep -E '^leaf_(one|two|itself|freeing|far|back|last) ' | sort >gdb_stacks
  if grep -q '^leaf_one' gdb_stacks; then
    profile ./gcc_5
    stacks '^leaf_(one|two|itself|freeing|far|back|last) ' | sed 's/ < __libc_start.*//; s/[][]//g' >our_stacks
    expect_eq "stacks of gdb" "$(cat gdb_stacks)" "$(cat our_stacks)"
  else
    not_tried "gdb's backtraces: it cannot run programs here"
  fi
else
  not_tried "gdb's backtraces: no gdb"
fi

# They are said to be inferred wherever they are shown, and are what the row is about.
profile ./gcc_5
COLUMNS=120 "$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "wrap (inferred)"
expect_in report.txt "← left_inlined (inferred) ← call_inlined"
"$HEAPPROF_BIN" report --format json profile.json >report.json
expect_eq "inferred in JSON" "$(jq '[.. | objects | select(.function? == "wrap") | .inferred] | unique' -c report.json)" "[true]"
expect_eq "nothing else" "$(jq '[.. | objects | select(.function? == "leaf_one") | .inferred] | unique' -c report.json)" "[null]"
inferred_of() { jq -c '. as $p | [.heapprof.frames.inferred[] | $p.ftbl[. + 1]] | sort' "$1"; }
cp profile.json twin.json
"$HEAPPROF_BIN" merge -o merged.json profile.json twin.json
"$HEAPPROF_BIN" report merged.json >merged.txt
expect_in merged.txt "wrap (inferred)"
expect_eq "inferred after a merge" "$(inferred_of merged.json)" "$(inferred_of profile.json)"
"$HEAPPROF_BIN" diff profile.json twin.json >diff.txt
# A forged list is refused.
jq -c '.heapprof.frames.inferred = [100000]' profile.json >forged.json
expect_status 3 "$HEAPPROF_BIN" report forged.json

# The second run has the same frames from the cache.
program=./cached
cp gcc_5 cached
sleep 1.1
stacks_of_run() { "$HEAPPROF_BIN" run -q -o run.json "$@" -- ./cached && stacks . run.json; }
first=$(stacks_of_run)
id=$(readelf -n cached | awk '/Build ID/ { print $3 }')
[ -e "$XDG_CACHE_HOME/heapprof/names/$id.names" ] || fail "nothing was kept"
expect_eq "stacks of the second run" "$(stacks_of_run)" "$first"
expect_eq "stacks without the cache" "$(stacks_of_run --no-cache)" "$first"
case $first in *"[left_two_inner]"*) ;; *) fail "the cache has no inferred frames: $first" ;; esac

# Stripped: nothing, until the names are found later; then as if they had been there.
cp gcc_5 whole
mkdir put_aside
objcopy --only-keep-debug whole put_aside/symbols
expect_status 0 "$HEAPPROF_BIN" run -q --no-cache -o named.json -- ./whole
strip -s whole
expect_status 0 "$HEAPPROF_BIN" run -q --no-cache -o bare.json -- ./whole
expect_eq "inferred frames of a stripped program" "$(json bare.json '.heapprof.frames.inferred | length')" 0
expect_status 0 "$HEAPPROF_BIN" symbolize --no-debuginfod --debug-dir put_aside -o late.json bare.json
check_profile late.json
expect_eq "stacks that were named later" "$(stacks . late.json)" "$(stacks . named.json)"
expect_eq "inferred frames that were named later" "$(inferred_of late.json)" "$(inferred_of named.json)"
cp late.json again.json
expect_status 0 "$HEAPPROF_BIN" symbolize --no-debuginfod --debug-dir put_aside again.json
expect_eq "named twice" "$(stacks . again.json)" "$(stacks . named.json)"
