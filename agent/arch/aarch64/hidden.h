// agent/arch/aarch64/hidden.h: included by the compiler before each source: what the agent declares is hidden.
//
// Else what another source defines is reached through the global offset table, which holds no addresses until the agent
// is relocated (process/early.h), and costs a load each time. On x86-64 the linker turns such loads into addresses. The
// headers of the system come first, because what they declare is not the agent's.
#pragma once

#include "shared/include/heapprof/heapprof.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(hidden)
