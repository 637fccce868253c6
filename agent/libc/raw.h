// agent/libc/raw.h: system calls without libc: no errno, no cancellation point, no interposable function.
//
// Guarantees
//  - Every function returns the kernel's value; an error is a negative errno (is_error()).
// Context:  anywhere in the agent, signal handlers and forked children included.
#pragma once

#include "agent/arch/arch.h"

#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

namespace heapprof::agent {

inline bool is_error(long result) { return static_cast<unsigned long>(result) > -4096ul; }

inline void* sys_mmap(size_t size_bytes, int protection, int flags, int fd) {
  const long result = raw_syscall(SYS_mmap, 0, static_cast<long>(size_bytes), protection, flags, fd, 0);
  return is_error(result) ? nullptr : reinterpret_cast<void*>(result);
}

// Excludes the memory from the program's core files.
inline void leave_out_of_cores(void* address, size_t size_bytes) {
  raw_syscall(SYS_madvise, reinterpret_cast<long>(address), static_cast<long>(size_bytes), MADV_DONTDUMP);
}

inline long sys_munmap(void* address, size_t size_bytes) {
  return raw_syscall(SYS_munmap, reinterpret_cast<long>(address), static_cast<long>(size_bytes));
}

// Maps zeroed private memory, touched only as it is used. Of the program's limits, it counts only towards that of
// address space (RLIMIT_AS). nullptr: no memory.
void* map_private(size_t size_bytes);
void unmap_private(void* memory, size_t size_bytes);

// A large variable that begins as zeros. It counts towards none of those limits either, once uncount_large_variables()
// was called; it may not be used before. (For the assembler, the text after the `#` is a comment.)
#define HEAPPROF_LARGE __attribute__((section(".heapprof_large,\"aw\",@nobits" HEAPPROF_COMMENT)))
struct LargeVariables {
  const void* start;
  size_t size_bytes;
};
LargeVariables uncount_large_variables();
inline long sys_close(int fd) { return raw_syscall(SYS_close, fd); }
inline int sys_gettid() { return static_cast<int>(raw_syscall(SYS_gettid)); }
inline int sys_getpid() { return static_cast<int>(raw_syscall(SYS_getpid)); }
inline uint64_t sys_monotonic_ns() {
  timespec now{};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
inline void sys_yield() { raw_syscall(SYS_sched_yield); }

// Sleeps at most timeout_ns while *word is `expected`. The word may be shared between processes.
inline long sys_futex_wait(const void* word, uint32_t expected, long timeout_ns) {
  const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  return raw_syscall(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT, expected, reinterpret_cast<long>(&timeout));
}

// Touches the pages that hold the next kBytes of this thread's stack. A program may supply these pages by a handler of
// SIGSEGV, or from another thread (userfaultfd). It could not do so while signals are blocked or the agent holds a
// lock. This only reads, because below a small stack there is other memory.
template <int kBytes>
[[gnu::always_inline]] inline void touch_stack() {
  read_below_stack<kBytes>();
}

using SignalMask = uint64_t;  // the kernel's sigset_t

// While an object of this class exists, every signal of this thread is blocked, those of libc's own use included.
class SignalsBlocked {
 public:
  // If may_ask is false, blocks nothing: a seccomp filter could kill the process for the system call.
  explicit SignalsBlocked(bool may_ask = true) : is_blocked_(may_ask) {
    if (!is_blocked_) return;
    const SignalMask all = ~SignalMask{0};
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&previous_),
                sizeof(SignalMask));
  }
  ~SignalsBlocked() {
    if (is_blocked_)
      raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&previous_), 0, sizeof(SignalMask));
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  SignalMask previous_ = 0;
  bool is_blocked_;
};

#define HEAPPROF_LIKELY(x) __builtin_expect(!!(x), 1)
#define HEAPPROF_UNLIKELY(x) __builtin_expect(!!(x), 0)

}  // namespace heapprof::agent
