# The machine that a profile names is the one that the kernel and libc name.
profile /bin/true
of() { json profile.json ".heapprof.machine.$1"; }
model=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -1 | tr -s ' ' | sed 's/ $//')
expect_eq "processor" "$(of cpu)" "$model"
expect_eq "processors" "$(of cores_count)" "$(getconf _NPROCESSORS_ONLN)"
expect_eq "kernel" "$(of kernel)" "$(uname -s) $(uname -r) $(uname -m)"
expect_eq "libc" "$(of libc)" "$(getconf GNU_LIBC_VERSION)"
