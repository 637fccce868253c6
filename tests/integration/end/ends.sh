# However a program ends, its profile is written, is complete up to that moment and says how it ended.
ulimit -c 0
end_case() {  # HOW STATUS KIND NUMBER
  rm -f counts
  profile "$TARGETS/ends" "$1" 5000 counts
  expect_eq "exit status of heapprof after $1" "$status" "$2"
  expect_end "$3" "$4"
  expect_complete
  read -r allocations frees < <(od -An -tu8 counts)
  expect_eq "allocations that $1 counted" "$allocations" 5000
  expect_sum '^allocate_one\(' "$((allocations * 1235)) $allocations $(((allocations - frees) * 1235)) $((allocations - frees))"
}
end_case return     6   exited   6
end_case exit       7   exited   7
end_case _exit      8   exited   8
end_case quick_exit 9   exited   9
end_case abort      134 signaled 6
end_case segv       139 signaled 11
end_case sigkill    137 signaled 9
