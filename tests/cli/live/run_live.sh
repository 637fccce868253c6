# run --live: the view while the program runs, its output in a file, the usual summary behind it, and the program's own
# exit code.
mkfifo go
tmux_starts 80 24
before=$(terminal_state)
cat >works.sh <<SCRIPT
$HEAPPROF_BIN run --live --child-output $PWD/said.txt -o live.json sh -c 'read word <go; echo said; cat; exit 5'
echo ended \$? | tee -a ends.txt
SCRIPT
types "bash works.sh" Enter
shows "q quit"
shows "place"
expect_eq "the other screen" "$(in_tmux display-message -p '#{alternate_on}')" 1
echo go >go
shows "ended 5"
shows "live.json"
expect_eq "the terminal" "$(terminal_state)" "$before"
expect_eq "the program's output" "$(cat said.txt)" said
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' live.json)" '["exited",5,true]'

# The view is left, and the run goes on.
types "clear; bash works.sh" Enter
shows "q quit"
types q
shows_no_more "q quit"
expect_eq "the screen without the view" "$(in_tmux display-message -p '#{alternate_on}')" 0
echo go >go
shows "ended 5"

# The run is killed.
types "clear; bash works.sh" Enter
shows "q quit"
kill -9 "$(pgrep -f "run --live --child-output $PWD/said.txt" | sort -n | head -n 1)"  # not -o: its guard began in the same tick
# Whether the shell's word or the guard comes first is nobody's: what is written on the other screen is gone with it.
for _ in $(seq 300); do
  [ "$(tail -n 1 ends.txt)" = "ended 137" ] && [ "$(terminal_state)" = "$before" ] && break
  sleep 0.1
done
expect_eq "how it ended" "$(tail -n 1 ends.txt)" "ended 137"
expect_eq "the terminal after a kill" "$(terminal_state)" "$before"
timeout 5 sh -c 'echo go >go' || true
