// cli/arch/aarch64/threads.h: the registers of a stopped thread, and where libc keeps a thread's storage.
#pragma once

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <cstdint>

namespace heapprof::cli {

// True if `attach` works on this processor.
inline constexpr bool kCanAttach = false;

// ---- Registers ----

using VectorRegisters = user_fpsimd_struct;   // NT_PRFPREG
inline constexpr uint64_t kRedZoneBytes = 0;  // nothing below the stack pointer is kept

inline uint64_t stack_pointer(const user_regs_struct& registers) { return registers.sp; }
// 0: it cannot be read.
inline uint64_t thread_pointer(pid_t id, const user_regs_struct&) {
  uint64_t avma = 0;
  iovec part{&avma, sizeof avma};
  return ::ptrace(PTRACE_GETREGSET, id, NT_ARM_TLS, &part) == 0 ? avma : 0;
}

// ---- System calls that a stop ends ----
//
// The kernel restarts most system calls that a stop interrupted, and prepares that before the tracer sees the thread.
// The others return EINTR, as after SIGSTOP and SIGCONT (signal(7)). Those cannot be made again: the result has
// replaced the first argument in x0, and the kernel keeps its copy (orig_x0) to itself. /proc/PID/syscall would tell
// the argument only before the stop, when the thread may still make another call. A call with the wrong descriptor is
// worse than an EINTR, so the program gets the EINTR.

inline bool begin_call_again(pid_t, user_regs_struct*) { return false; }

// ---- Storage of a thread ----
//
// The thread pointer is between the descriptor, below it, and all thread-local storage, above it. The thread's stack is
// below the descriptor. The descriptor has no pointer to itself. It is in lists of libc's, but so is much else, so the
// descriptors of threads that have ended are not recognized: what glibc keeps of their stacks counts as roots.

inline constexpr bool kIsStorageBelow = false;           // below the thread pointer
inline constexpr uint64_t kMostDescriptorBelow = 0x900;  // bytes of the descriptor below the thread pointer
inline constexpr uint64_t kLeastDescriptorBelow = 0x600;
inline constexpr uint64_t kDescriptorAbove = 16;  // two words of libc's at the thread pointer
inline constexpr bool kDescriptorPointsToItself = false;

inline bool is_descriptor(const uint64_t*, uint64_t) { return false; }

}  // namespace heapprof::cli
