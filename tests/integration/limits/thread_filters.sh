# Filters of system calls are a thread's own. One that the kernel refuses (EINVAL, EFAULT, EACCES, a thread that cannot
# be reached, strict mode after a filter) changes nothing. Under one that kills for everything but what libc needs
# itself, in one thread or in all, every event is counted: in threads that existed, in threads that the filtered one
# creates, in eight that come at once and forty that come in turn.
"$TARGETS/thread_filters" own 2>err.txt || skip "no seccomp filters here: $(cat err.txt)"

# check CASE RESULT CHILDREN: CHILDREN: whether the forked child has a profile.
check() {
  "$TARGETS/thread_filters" "$1" >native.txt || fail "without heapprof '$1' ends with $?"
  rm -f profile.*
  profile "$TARGETS/thread_filters" "$1"
  expect_eq "exit status ($1)" "$status" 0
  expect_eq "output ($1)" "$(cat out.txt)" "$(cat native.txt)"
  expect_eq "result and errno ($1)" "$(cat native.txt)" "$2"
  expect_complete
  expect_eq "events called abandoned ($1)" "$(counter abandoned_count)" 0
  expect_sum allocate_main "$((110 * 1001)) 110 $((55 * 1001)) 55"
  expect_sum allocate_later "$((80 * 1009)) 80 $((40 * 1009)) 40"
  expect_sum allocate_in_turn "$((400 * 1011)) 400 $((200 * 1011)) 200"
  expect_eq "children with a profile ($1)" "$(find . -name 'profile.*.json' | wc -l)" "$3"
  [ "$3" = 0 ] || expect_sum allocate_child "$((10 * 1013)) 10 $((5 * 1013)) 5" profile.*.json
}

check einval "-1 22" 1
check efault "-1 14" 1
check tsync "1 0" 1
check strict "-1 22" 0 # the filter before it was accepted, and the child has it
"$TARGETS/thread_filters" eacces >native.txt && check eacces "-1 13" 1 || not_tried "EACCES: capabilities cannot be dropped here"

for case in own all; do
  check $case "" $([ $case = own ] && echo 1 || echo 0)
  expect_sum allocate_existing "$((110 * 1003)) 110 $((55 * 1003)) 55"
  [ $case = own ] || continue
  expect_sum allocate_filtered "$((110 * 1005)) 110 $((55 * 1005)) 55"
  expect_sum allocate_inherited "$((30 * 1007)) 30 $((15 * 1007)) 15"
done
