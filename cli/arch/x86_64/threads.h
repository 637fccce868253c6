// cli/arch/x86_64/threads.h: the registers of a stopped thread, and where libc keeps a thread's storage.
#pragma once

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <cerrno>
#include <cstdint>

namespace heapprof::cli {

// True if `attach` works on this processor.
inline constexpr bool kCanAttach = true;

// ---- Registers ----

using VectorRegisters = user_fpregs_struct;     // NT_PRFPREG
inline constexpr uint64_t kRedZoneBytes = 128;  // below the stack pointer, of a leaf function

inline uint64_t stack_pointer(const user_regs_struct& registers) { return registers.rsp; }
inline uint64_t thread_pointer(pid_t, const user_regs_struct& registers) { return registers.fs_base; }

// ---- System calls that a stop ends ----

// Whether the system call returns EINTR when its thread is stopped, although no signal handler ran, and has done
// nothing then (signal(7)). The kernel restarts most others by itself.
inline bool is_ended_by_stops(uint64_t call) {
  switch (call) {
    case SYS_read:  // of inotify, or of a device
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_accept:  // this and the following calls only if the socket has a timeout
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg: return true;
    default: return false;
  }
}

// Whether a stop ended the stopped thread's system call. If so, *registers become those with which it makes the call
// again.
inline bool begin_call_again(pid_t id, user_regs_struct* registers) {
  constexpr uint64_t kInstructionBytes = 2;
  constexpr uint64_t kSyscallInstruction = 0x050f;
  constexpr uint64_t kCodeOf64Bits = 0x33;
  if (registers->cs != kCodeOf64Bits || registers->rax != static_cast<uint64_t>(-EINTR) ||
      !is_ended_by_stops(registers->orig_rax))
    return false;
  errno = 0;
  const long code = ::ptrace(PTRACE_PEEKTEXT, id, reinterpret_cast<void*>(registers->rip - kInstructionBytes), nullptr);
  if (errno != 0 || (static_cast<uint64_t>(code) & 0xffff) != kSyscallInstruction) return false;
  registers->rax = registers->orig_rax;
  registers->orig_rax = UINT64_MAX;  // the thread is in no system call
  registers->rip -= kInstructionBytes;
  return true;
}

// ---- Storage of a thread ----
//
// The thread pointer is the address of the descriptor, which points to itself, twice. All thread-local storage is below
// it, and the thread's stack below that.

inline constexpr bool kIsStorageBelow = true;        // below the thread pointer
inline constexpr uint64_t kMostDescriptorBelow = 0;  // bytes of the descriptor below the thread pointer
inline constexpr uint64_t kLeastDescriptorBelow = 0;
inline constexpr uint64_t kDescriptorAbove = 0x900;  // the least size of a thread's descriptor in any glibc
inline constexpr bool kDescriptorPointsToItself = true;

// Whether a descriptor begins with these words, which are at that address. pre: there are three.
inline bool is_descriptor(const uint64_t* words, uint64_t avma) { return words[0] == avma && words[2] == avma; }

}  // namespace heapprof::cli
