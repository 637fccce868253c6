# The run is killed while the view has the terminal: it is given back, and the view says what became of it.
obeys_starts
tmux_starts 80 24
before=$(terminal_state)
types "clear; $HEAPPROF_BIN top --interval 250ms $target; echo ended \$?" Enter
shows "q quit"
kill -9 $run
shows "ended 1"
shows "its heapprof has ended"
expect_eq "the terminal" "$(terminal_state)" "$before"
echo end >&8
