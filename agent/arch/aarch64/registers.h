// agent/arch/aarch64/registers.h: the registers of one frame, by DWARF number, and how to begin a walk in the agent's
// own frame.
//
// Source: DWARF for the Arm 64-bit Architecture, section 4.1.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

enum DwarfRegister : uint32_t {
  kRegisterX19 = 19,
  kRegisterBp = 29,
  kRegisterReturn = 30,  // the link register
  kRegisterSp = 31,
  kRegisterPc = 32,
  kRegisterCount = 33,
};

struct Registers {
  uint64_t value[kRegisterCount];
  uint64_t known;  // bit i: value[i] is what register i held in this frame

  bool is_known(uint32_t number) const { return number < kRegisterCount && (known >> number & 1) != 0; }
  void set(uint32_t number, uint64_t content) {
    value[number] = content;
    known |= uint64_t{1} << number;
  }
};

// Reads the registers of the function that this is inlined into. Only callee-saved registers become known. The program
// counter is the address of an instruction in that function, + 1, as for an interrupted frame.
[[gnu::always_inline]] inline void read_own_registers(Registers* registers) {
  uint64_t pc_avma;
  asm volatile(
      "stp x19, x20, [%[to], #152]\n\t"
      "stp x21, x22, [%[to], #168]\n\t"
      "stp x23, x24, [%[to], #184]\n\t"
      "stp x25, x26, [%[to], #200]\n\t"
      "stp x27, x28, [%[to], #216]\n\t"
      "str x29, [%[to], #232]\n\t"
      "mov %[pc], sp\n\t"
      "str %[pc], [%[to], #248]\n"
      "0:\tadr %[pc], 0b"
      : [pc] "=&r"(pc_avma)
      : [to] "r"(registers->value)
      : "memory");
  registers->value[kRegisterPc] = pc_avma + 1;
  registers->known = uint64_t{0x7ff} << kRegisterX19 | uint64_t{1} << kRegisterSp | uint64_t{1} << kRegisterPc;
}

// Reads the registers of the frame that a signal interrupted; its program counter becomes the address + 1.
// load(off, word): loads the word at that distance from the stack pointer with which the handler returns. There lies
// the kernel's rt_sigframe: a siginfo, then a ucontext.
template <typename Load>
bool read_interrupted(Load&& load, Registers* registers) {
  constexpr uint64_t kContextOff = sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);
  constexpr uint64_t kRegistersOff = kContextOff + offsetof(mcontext_t, regs);
  uint64_t word = 0;
  for (uint32_t number = 0; number < kRegisterSp; ++number) {
    if (!load(kRegistersOff + 8 * number, &word)) return false;
    registers->set(number, word);
  }
  if (!load(kContextOff + offsetof(mcontext_t, sp), &word)) return false;
  registers->set(kRegisterSp, word);
  if (!load(kContextOff + offsetof(mcontext_t, pc), &word)) return false;
  registers->set(kRegisterPc, word == 0 ? 0 : word + 1);
  return true;
}

}  // namespace heapprof::agent
