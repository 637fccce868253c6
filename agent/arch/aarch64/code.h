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

inline constexpr size_t kSwitchBytes = 12;

// True if the code begins by switching to another stack: mov x0, x19; cbnz x0, setcontext; before it, from glibc 2.32
// on, nop or bti c. glibc's makecontext stores the address of such a function as a return address.
inline bool switches_stack(const unsigned char (&code)[kSwitchBytes]) {
  uint32_t words[3];
  __builtin_memcpy(words, code, sizeof code);
  const uint32_t* const at = words[0] == 0xd503201f || words[0] == 0xd503245f ? words + 1 : words;
  return at[0] == 0xaa1303e0 && (at[1] & 0xff00001f) == 0xb5000000;
}

// ---- What the kernel makes a signal handler return to: mov x8, #SYS_rt_sigreturn; svc #0 ----
// It has no call frame information (in the kernel's vDSO the directives are comments: they misled libgcc).

inline constexpr bool kHasBareSignalReturn = true;
inline constexpr const char* kSignalReturn = "__kernel_rt_sigreturn";  // in the vDSO
inline constexpr size_t kSignalReturnBytes = 8;
inline bool is_signal_return(const unsigned char (&code)[kSignalReturnBytes]) {
  constexpr uint32_t kCode[] = {0xd2801168, 0xd4000001};
  return __builtin_memcmp(code, kCode, sizeof kCode) == 0;
}

// ---- Stubs of a procedure linkage table: adrp x16; ldr x17, [x16 …]; add x16, x16 …; br x17 ----
// Before it may be a mark for branches (bti c), before the branch a check of the target (autia1716). They have no call
// frame information. Until the branch, sp and the return address in its register are the caller's; not so in the first
// stub of a table, which begins by pushing two registers.

inline constexpr bool kHasBareStubs = true;
inline constexpr size_t kStubCodeBefore = 16;  // bytes before the interrupted instruction
inline constexpr size_t kStubCodeBytes = 40;

// True if the instruction that has kStubCodeBefore bytes of the code before it is one of a stub.
inline bool is_in_stub(const unsigned char (&code)[kStubCodeBytes]) {
  constexpr uint32_t kMark = 0xd503245f, kCheck = 0xd503219f, kBranch = 0xd61f0220, kPush = 0xa9bf7bf0;
  constexpr size_t kInterrupted = kStubCodeBefore / 4;
  uint32_t words[kStubCodeBytes / 4];
  __builtin_memcpy(words, code, sizeof code);
  for (size_t first = 0; first <= kInterrupted + 1; ++first) {
    const uint32_t* const at = words + first;
    const bool loads_slot =
        (at[0] & 0x9f00001f) == 0x90000010 && (at[1] & 0xffc003ff) == 0xf9400211 && (at[2] & 0xff8003ff) == 0x91000210;
    const size_t branch = first + (at[3] == kCheck ? 4 : 3);
    const bool is_marked = first != 0 && at[-1] == kMark;
    const bool is_first_of_table = first != 0 && at[-1] == kPush;
    const size_t begin = is_marked ? first - 1 : first;
    if (loads_slot && words[branch] == kBranch && begin <= kInterrupted && kInterrupted <= branch)
      return !is_first_of_table;
  }
  return false;
}

// ---- Go's runtime.asmcgocall: not known here ----

inline constexpr size_t kGoCodeBefore = 4;
inline constexpr size_t kGoCodeBytes = 4;
inline bool is_go_call(const unsigned char (&)[kGoCodeBytes], uint8_t*, uint8_t*) { return false; }

}  // namespace heapprof::agent
