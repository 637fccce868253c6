# The agent may be loaded into any program of a machine with glibc 2.31: its needs, symbols and thread-local storage are
# checked.
[ -x "$(command -v readelf)" ] || skip "readelf is not installed (binutils)"
expect_status 0 "$SOURCE/scripts/check-agent" "$BUILD/lib/heapprof/libheapprof.so"
expect_eq "complaints" "$(cat out.txt)" ""

# Its helper for GPUs runs where the agent does.
newest=$(readelf -VW "$BUILD/lib/heapprof/heapprof-nvml" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
expect_eq "newer than glibc 2.31" "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" GLIBC_2.31
expect_eq "what heapprof-nvml needs" "$(readelf -dW "$BUILD/lib/heapprof/heapprof-nvml" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')" \
  "libc.so.6 libdl.so.2 "

# And the check can fail: a library that needs libm, a new symbol and dynamic thread-local storage breaks its rules.
cat >bad.c <<'C'
#include <math.h>
#include <pthread.h>
__thread char big[100];
double heapprof_x(double x) { big[0]++; return fmod(x, 2) + pthread_self(); }
void other(void) { pthread_create(0, 0, 0, 0); }
C
cc -shared -fPIC -o bad.so bad.c -lm 2>/dev/null || skip "cc cannot link a shared library here"
expect_status 1 "$SOURCE/scripts/check-agent" bad.so
expect_in out.txt "needs libm.so.6"
expect_in out.txt "takes pthread_create from libc"
expect_in out.txt "exports other"
expect_in out.txt "100 bytes of thread-local storage"
expect_in out.txt "not initial-exec"
