// agent/arch/aarch64/code.h: what the agent recognizes in other files and other code.
//
// Trust:    bytes and addresses may be anything; a wrong guess gives a wrong address, which the caller checks.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// ---- Addresses ----

inline constexpr uint32_t kUsualAddressBits = 48;  // of a program, without the 52-bit extension

// ---- ELF files ----

inline constexpr uint16_t kElfMachine = EM_AARCH64;
inline constexpr char kLoaderSoname[] = "ld-linux-aarch64.so.1";
// Kinds of relocations that store a symbol's address: in a slot for calls, in a slot for other uses, in data.
inline constexpr uint32_t kCallSlotRelocation = R_AARCH64_JUMP_SLOT;
inline constexpr uint32_t kSlotRelocation = R_AARCH64_GLOB_DAT;
inline constexpr uint32_t kAddressRelocation = R_AARCH64_ABS64;

// ---- Calls ----

inline constexpr size_t kCallBytes = 12;  // of the calls below: three instructions

// The slot through which the kCallBytes of code call or jump (adrp xN, page; ldr xM, [xN, #off]; then br or blr xM, or
// what stubs of a procedure linkage table have there); 0: they are something else.
inline uint64_t used_slot(const unsigned char* code, uint64_t end_avma) {
  uint32_t words[3];
  if (end_avma % sizeof words[0] != 0) return 0;
  __builtin_memcpy(words, code, sizeof words);
  const uint32_t page_register = words[0] & 0x1f;
  const uint32_t target_register = words[1] & 0x1f;
  const bool is_load = (words[0] & 0x9f000000) == 0x90000000 && (words[1] & 0xffc00000) == 0xf9400000 &&
                       (words[1] >> 5 & 0x1f) == page_register;
  const bool is_jump = (words[2] & 0xffdffc1f) == 0xd61f0000 && (words[2] >> 5 & 0x1f) == target_register;
  const bool is_stub = page_register == 16 && target_register == 17 && (words[2] & 0xffc003ff) == 0x91000210;
  if (!is_load || (!is_jump && !is_stub)) return 0;
  const auto pages = static_cast<int64_t>(uint64_t{words[0] >> 5 & 0x7ffff} << 45 | uint64_t{words[0] >> 29 & 3} << 43);
  const uint64_t page_avma = (end_avma - kCallBytes) & ~uint64_t{0xfff};
  return page_avma + static_cast<uint64_t>(pages >> 31) + uint64_t{words[1] >> 10 & 0xfff} * 8;
}

// ---- Functions that have no caller on their stack ----

inline constexpr size_t kSwitchBytes = 4;

// True if the code begins by switching to another stack. glibc's makecontext pushes such a function (setcontext's end)
// as a return address on other processors; here it has call frame information that says that the stack ends.
inline bool switches_stack(const unsigned char (&)[kSwitchBytes]) { return false; }

// ---- What the kernel makes a signal handler return to: mov x8, #SYS_rt_sigreturn; svc #0 ----
// It has no call frame information (in the kernel's vDSO the directives are comments: they misled libgcc).

inline constexpr bool kHasBareSignalReturn = true;
inline constexpr size_t kSignalReturnBytes = 8;
inline bool is_signal_return(const unsigned char (&code)[kSignalReturnBytes]) {
  constexpr uint32_t kCode[] = {0xd2801168, 0xd4000001};
  return __builtin_memcmp(code, kCode, sizeof kCode) == 0;
}

// ---- Stubs of a procedure linkage table: adrp x16; ldr x17, [x16 …]; add x16, x16 …; br x17 ----
// They have no call frame information. Until the branch, sp and the return address in its register are the caller's.

inline constexpr bool kHasBareStubs = true;
inline constexpr size_t kStubCodeBefore = 12;  // bytes before the interrupted instruction
inline constexpr size_t kStubCodeBytes = 28;

// True if the instruction that has kStubCodeBefore bytes of the code before it is one of a stub.
inline bool is_in_stub(const unsigned char (&code)[kStubCodeBytes]) {
  uint32_t words[kStubCodeBytes / 4];
  __builtin_memcpy(words, code, sizeof code);
  for (const uint32_t* at = words; at != words + 4; ++at) {
    if ((at[0] & 0x9f00001f) == 0x90000010 && (at[1] & 0xffc003ff) == 0xf9400211 &&
        (at[2] & 0xff8003ff) == 0x91000210 && at[3] == 0xd61f0220)
      return true;
  }
  return false;
}

// ---- Go's runtime.asmcgocall: not known here ----

inline constexpr size_t kGoCodeBefore = 4;
inline constexpr size_t kGoCodeBytes = 4;
inline bool is_go_call(const unsigned char (&)[kGoCodeBytes], uint8_t*, uint8_t*) { return false; }

}  // namespace heapprof::agent
