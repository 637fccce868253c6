# scripts/progress: how far a build is; what a compiler says of a mistake is shown whole, and the exit status is
# ninja's.
mkdir project
cat >project/build.ninja <<'NINJA'
rule compile
  command = sleep 0.1; test $name != wrong || { printf "$name.cc:7: \\033[31merror\\033[K: a mistake\\n\\n-- second line\\n"; exit 1; }; touch $out
  description = Building CXX object x.dir/$name.cc.o
build one.o: compile
  name = one
build two.o: compile
  name = two
build wrong.o: compile
  name = wrong
build good: phony one.o two.o
NINJA
expect_status 0 "$SOURCE/scripts/progress" project -j 1 good
expect_in err.txt "build: 2 steps in"
expect_status 0 "$SOURCE/scripts/progress" project -j 1 good
expect_eq "what is said of a build that has nothing to do" "$(cat err.txt)" ""
expect_status 1 "$SOURCE/scripts/progress" project -j 1 wrong.o
grep -A 2 -xF "wrong.cc:7: error: a mistake" err.txt | tail -n 2 | cmp - <(printf '\n-- second line\n') || fail "not all of it, or with colours: $(cat err.txt)"

# On a terminal: one line that moves, which is gone where something else is said.
[ -n "$(command -v script)" ] || { not_tried "a terminal: script is not installed"; exit 0; }
rm -f project/*.o
status=0
TERM=xterm script -qec "stty cols 80; '$SOURCE/scripts/progress' project -j 1 good wrong.o" /dev/null </dev/null >terminal.txt || status=$?
expect_eq "exit status" "$status" 1
tr '\r' '\n' <terminal.txt >lines.txt
grep -qE '^building  [█░]{10}  1 of 3 .*two\.cc' lines.txt || grep -qE '^building  [█░]{10}  1 of 3 .*wrong\.cc' lines.txt || fail "no line that moves: $(cat lines.txt)"
expect_in lines.txt "error"
expect_in lines.txt "-- second line"
longest=$(sed 's/\x1b\[K//g' lines.txt | grep '^building' | wc -L)
[ "$longest" -le 79 ] || fail "the line is $longest columns wide, on a terminal of 80"
