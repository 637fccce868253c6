# The machine that a profile names is the one that its processor, kernel and libc name.
profile /bin/true
of() { json profile.json ".heapprof.machine.$1"; }
# The kernel keeps the name that it read when it started: a guest that was moved since has that of another processor.
cat >brand.c <<'END'
#include <cpuid.h>
#include <stdio.h>
int main(void) {
  unsigned brand[13] = {0};
  for (unsigned i = 0; i < 3; ++i) __cpuid(0x80000002 + i, brand[4 * i], brand[4 * i + 1], brand[4 * i + 2], brand[4 * i + 3]);
  puts((const char*)brand);
}
END
gcc brand.c -o brand
expect_eq "processor" "$(of cpu)" "$(./brand | xargs)"
expect_eq "processors" "$(of cores_count)" "$(getconf _NPROCESSORS_ONLN)"
expect_eq "kernel" "$(of kernel)" "$(uname -s) $(uname -r) $(uname -m)"
expect_eq "libc" "$(of libc)" "$(getconf GNU_LIBC_VERSION)"
