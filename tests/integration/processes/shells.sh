# Shells fork, exec, pipe and put into the background: each process once, each with its own numbers.
profile sh -c "'$TARGETS/forks' 1 | cat; ('$TARGETS/forks' 1); '$TARGETS/leaky' >/dev/null & wait; exit 4"
expect_eq "exit status" "$status" 4
expect_end exited 4
expect_eq "programs" "$(for f in profile*.json; do case $f in *exec*) ;; *) json $f .heapprof.run.executable ;; esac; done | sed 's,.*/,,' | sort | uniq -c | awk '{print $1 $2}' | tr '\n' ' ')" \
  "1cat 1dash 4forks 1leaky "
while read -r child; do expect_sum '^allocate_in_child' "6185 5 4948 4" profile.$child.json; done <out.txt

# The program's own exec, again and again: FILE is the last, the others have numbers.
rm profile*
profile "$TARGETS/execs" "$TARGETS/execs" "$TARGETS/execs" "$TARGETS/execs" second
expect_eq "exit status" "$status" 3
expect_eq "images" "$(ls profile* | tr '\n' ' ')" "profile.exec1.json profile.exec2.json profile.exec3.json profile.json "
for i in 1 2 3; do expect_sum '^allocate_first' "3705 3 3705 3" profile.exec$i.json; done
expect_sum '^allocate_second' "4948 4 4948 4"
