# 200 threads started and ended in waves, threads that are cancelled, threads with the smallest stack there is: all
# exact. A thread with storage of its own, which is not libc's, runs as without us; what it maps and unmaps is
# counted as lost.
profile "$TARGETS/odd_threads" waves 200 10
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "2470000 2000 2470000 2000"
expect_sum '^allocate_freed' "2474000 2000 0 0"
expect_eq "threads" "$(json profile.json '(.heapprof.threads | length) + .heapprof.run.other_threads_count')" 2001

profile "$TARGETS/odd_threads" cancelled 50
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "61750 50 61750 50"
expect_sum '^allocate_for_cleanup' "61950 50 0 0"
expect_sum '^allocate_in_destructor' "62050 50 0 0"

profile "$TARGETS/odd_threads" small_stacks 50
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "61750 50 61750 50"
expect_sum '^allocate_freed' "247400 200 0 0"
# … and with all that each of them can use, under a debugger's view of the loader: symbols bound at once.
LD_BIND_NOW=1 profile "$TARGETS/odd_threads" small_stacks 50
expect_eq "exit status with LD_BIND_NOW" "$status" 0
expect_sum '^allocate_freed' "247400 200 0 0"

# The pages of a thread's stack come when it uses them: by a handler of SIGSEGV, and from another thread that allocates.
for room in $(seq 200 100 1500); do
  for how in grown_stack served_stack; do
    status=0
    timeout 300 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/odd_threads" $how $room || status=$?
    [ $status != 95 ] || { not_tried "$how"; continue; }
    expect_eq "exit status of $how with $room bytes left" $status 0
    expect_eq "events lost of $how" "$(counter lost_count)" 0
  done
done

# System calls that do not come from libc are sent back to the thread, and would end it.
for mode in 1 2; do
  profile "$TARGETS/odd_threads" own_calls $mode
  [ "$status" != 95 ] || { not_tried "own_calls $mode"; continue; }
  expect_in out.txt "calls from elsewhere: 0"
done

# The first thread has ended, another one starts a program that cannot have our variables.
if gcc -fsanitize=address -x c - -o checked 2>/dev/null <<'END'
#include <stdio.h>
int main(void) { puts("checked"); }
END
then
  for how in spawn exec fexec fexec_path; do
    profile "$TARGETS/odd_threads" leader_ends 1 $how ./checked
    expect_in out.txt checked
  done
else
  not_tried "no AddressSanitizer here"
fi

for storage in 1 0; do
  profile "$TARGETS/odd_threads" own_storage $storage
  expect_eq "exit status with storage that is not libc's ($storage)" "$status" 0
  expect_eq "events lost of that thread ($storage)" "$(counter lost_count)" 2
done
