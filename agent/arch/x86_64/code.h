// agent/arch/x86_64/code.h: what the agent recognizes in other files and other code.
//
// Trust:    bytes and addresses may be anything; a wrong guess gives a wrong address, which the caller checks.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// ---- Addresses ----

inline constexpr uint32_t kUsualAddressBits = 47;  // of a program, without five levels of page tables

// ---- ELF files ----

inline constexpr uint16_t kElfMachine = EM_X86_64;
inline constexpr char kLoaderSoname[] = "ld-linux-x86-64.so.2";
// Kinds of relocations that store a symbol's address: in a slot for calls, in a slot for other uses, in data.
inline constexpr uint32_t kCallSlotRelocation = R_X86_64_JUMP_SLOT;
inline constexpr uint32_t kSlotRelocation = R_X86_64_GLOB_DAT;
inline constexpr uint32_t kAddressRelocation = R_X86_64_64;

// ---- Calls ----

inline constexpr size_t kCallBytes = 6;   // at most, of the calls below: call rel32, call *distance(%rip)
inline constexpr size_t kStubBytes = 11;  // at most, of what jumped_slot() reads

inline uint64_t moved_by(uint64_t avma, const unsigned char* distance_at) {
  int32_t distance;
  __builtin_memcpy(&distance, distance_at, sizeof distance);
  return avma + static_cast<uint64_t>(int64_t{distance});
}

// The slot through which the kCallBytes of code call or jump (call or jmp *slot(%rip)); 0: they are something else.
// Calls in code that was compiled with -fno-plt look so, and so do the stubs of a procedure linkage table.
inline uint64_t used_slot(const unsigned char* code, uint64_t end_avma) {
  if (code[0] != 0xff || (code[1] != 0x15 && code[1] != 0x25)) return 0;
  return moved_by(end_avma, code + 2);
}

// Both are for a call that returns to return_avma and whose last byte is the last of the kCallBytes of `code`. They
// return the address that it calls directly, or the slot that it calls through; 0: it is another kind of call.
inline uint64_t directly_called(const unsigned char* code, uint64_t return_avma) {
  return code[1] == 0xe8 ? moved_by(return_avma, code + 2) : 0;
}
inline uint64_t called_slot(const unsigned char* code, uint64_t return_avma) {
  return code[0] == 0xff && code[1] == 0x15 ? moved_by(return_avma, code + 2) : 0;
}

// Returns, as bits, the registers that may hold the called address, by their numbers in instructions; 0: it is another
// kind of call. There are two if a byte may be a prefix or the end of the instruction before.
inline uint32_t registers_of_call(const unsigned char* code) {
  if (code[4] != 0xff || (code[5] & 0xf8) != 0xd0) return 0;
  return (code[3] == 0x41 ? 0x101u : 1u) << (code[5] & 7u);
}

// The slot through which the stub at an address jumps, if it does nothing else; 0: it is other code. pre: kStubBytes
// can be read there.
inline uint64_t jumped_slot(uint64_t stub_avma) {
  constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr unsigned char kBound = 0xf2;  // a prefix (MPX)
  constexpr unsigned char kJump[] = {0xff, 0x25};
  const auto* at = reinterpret_cast<const unsigned char*>(stub_avma);
  if (__builtin_memcmp(at, kEndBranch, sizeof kEndBranch) == 0) at += sizeof kEndBranch;
  if (*at == kBound) ++at;
  if (__builtin_memcmp(at, kJump, sizeof kJump) != 0) return 0;
  at += sizeof kJump;
  return moved_by(reinterpret_cast<uint64_t>(at) + sizeof(int32_t), at);
}

// ---- Functions that have no caller on their stack ----

inline constexpr size_t kSwitchBytes = 7;

// True if the code begins with `mov %rbx, %rsp`, with or without an endbr64 before it: the function switches to another
// stack at once. If its address was pushed as a return address, it has no caller. glibc's makecontext pushes such a
// function, and data above it.
inline bool switches_stack(const unsigned char (&code)[kSwitchBytes]) {
  constexpr unsigned char kMark[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr unsigned char kMove[] = {0x48, 0x89, 0xdc};
  const bool is_marked = __builtin_memcmp(code, kMark, sizeof kMark) == 0;
  return __builtin_memcmp(code + (is_marked ? sizeof kMark : 0), kMove, sizeof kMove) == 0;
}

// ---- What a signal handler returns to (libc's and the kernel's have call frame information) ----

inline constexpr bool kHasBareSignalReturn = false;
inline constexpr const char* kSignalReturn = nullptr;
inline constexpr size_t kSignalReturnBytes = 1;
inline bool is_signal_return(const unsigned char (&)[kSignalReturnBytes]) { return false; }

// ---- Stubs of a procedure linkage table (they have call frame information) ----

inline constexpr bool kHasBareStubs = false;
inline constexpr size_t kStubCodeBefore = 0, kStubCodeBytes = 1;
inline bool is_in_stub(const unsigned char (&)[kStubCodeBytes]) { return false; }

// ---- Go's runtime.asmcgocall, around the address that its call of C returns to ----
//   call *%rax; mov G(%rsp), %rdi; mov 8(%rdi), %rsi; sub D(%rsp), %rsi
// Source: Go's runtime/asm_amd64.s.

inline constexpr size_t kGoCodeBefore = 2;  // bytes before that address
inline constexpr size_t kGoCodeBytes = 16;

// True if the code is that. *g_off: where the goroutine is stored, *distance_off: how far the end of its stack is, both
// in bytes from the stack pointer.
inline bool is_go_call(const unsigned char (&code)[kGoCodeBytes], uint8_t* g_off, uint8_t* distance_off) {
  constexpr unsigned char kBefore[] = {0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24};
  constexpr unsigned char kBetween[] = {0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b};
  constexpr size_t kGoroutineAt = sizeof kBefore, kBetweenAt = kGoroutineAt + 1;
  constexpr size_t kOperandAt = kBetweenAt + sizeof kBetween;
  static_assert(kOperandAt + 3 == kGoCodeBytes);
  if (__builtin_memcmp(code, kBefore, sizeof kBefore) != 0 ||
      __builtin_memcmp(code + kBetweenAt, kBetween, sizeof kBetween) != 0)
    return false;
  const bool has_distance = code[kOperandAt] == 0x74;  // else it is at (%rsp) itself
  *g_off = code[kGoroutineAt];
  *distance_off = has_distance ? code[kOperandAt + 2] : 0;
  return (has_distance || code[kOperandAt] == 0x34) && code[kOperandAt + 1] == 0x24;
}

}  // namespace heapprof::agent
