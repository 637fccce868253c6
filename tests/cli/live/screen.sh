# The view on a terminal: keys, sizes, and the terminal as it was after every way out.
export LC_ALL=C.UTF-8
obeys_starts
tmux_starts 80 24
before=$(terminal_state)
is_restored() { [ "$(terminal_state)" = "$before" ]; }
expect_restored() {
  shows 'here>'
  (wait_for 60 "the terminal of before $1" is_restored) || { diff <(echo "$before") <(terminal_state) >&2; exit 1; }
}
view() { types "clear; $HEAPPROF_BIN top --interval 250ms $target; echo ended \$? | tee -a ends.txt" Enter; shows "q quit"; }

obeys grow
view
shows "main  obeys.cc"
expect_eq "the other screen" "$(in_tmux display-message -p '#{alternate_on} #{cursor_flag}')" "1 0"
screen_now >screen.txt
expect_eq "lines" "$(wc -l <screen.txt)" 24
expect_in screen.txt "heapprof top $target"
expect_in screen.txt "host  977 KiB  peak 977 KiB"
expect_in screen.txt "q quit  d device  s sort: live  f filter  space freeze  w snapshot  ? help"
types s
shows "s sort: growth"
types s
shows "s sort: allocs/s"
types /
shows "filter: _"
types GRO
shows "filter: GRO_"
shows_no_more "main  obeys.cc"
types Enter
shows "with 'GRO'"
types Escape
shows "main  obeys.cc"
types '?'
shows "write the profile so far to a file"
types '?'
types Space
shows FROZEN
obeys grow
sleep 0.6
screen_now | grep -qF "host  977 KiB" || fail "frozen numbers move"
types Space
shows "host  1.91 MiB"
shows "+977 KiB"
types w
shows "saved "
types Escape
[ -s heapprof.obeys.$target.snapshot.json ] || fail "there is no snapshot"
for size in "40 10" "12 3" "1 1" "200 50" "80 24"; do
  in_tmux resize-window -x "${size% *}" -y "${size#* }"
  sleep 0.4
done
shows "q quit  d device"
in_tmux resize-window -x 40 -y 10
shows_no_more "d device"
shows "q quit  s sort"
screen_now >screen.txt
expect_eq "lines of a small screen" "$(wc -l <screen.txt)" 10
expect_in screen.txt "host  1.91 MiB"
in_tmux resize-window -x 80 -y 24
types q
shows "ended 0"
expect_restored "q"

for signal in TERM HUP INT KILL; do
  view
  top=$(for pid in $(pgrep -f "heapprof top --interval 250ms $target"); do
    [ "$(cat /proc/$pid/comm)" = heapprof ] && echo "$pid"
  done | head -1)
  ends=$(wc -l <ends.txt)
  kill -$signal "$top"
  wait_for 60 "the view's end by SIG$signal" has_lines ends.txt $((ends + 1))
  expect_eq "how the view ended by SIG$signal" "$(tail -n 1 ends.txt)" "ended $((128 + $(kill -l $signal)))"
  # By KILL, the shell may have written that on the screen that goes: its next prompt is on the other.
  [ $signal != KILL ] || { sleep 0.3; types "" Enter; }
  expect_restored "SIG$signal"
done

view
types C-c
shows "ended 130"
expect_restored "Ctrl-C"

view
types C-z
shows "Stopped"
expect_eq "the screen of a stopped view" "$(in_tmux display-message -p '#{alternate_on}')" 0
types "clear; fg; echo back \$?" Enter
shows "q quit  d device"
types q
shows 'back 0'
expect_restored "Ctrl-Z and fg"

view
obeys shrink
echo end >&8
wait $run
shows "process $target has ended: exit 0"
shows "saved  final.json"
shows "ended 0"
expect_restored "the run's end"
