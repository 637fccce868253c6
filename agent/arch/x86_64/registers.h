// agent/arch/x86_64/registers.h: the registers of one frame, by DWARF number, and how to begin a walk in the agent's
// own frame.
//
// Source: System V ABI for x86-64, table 3.36.
#pragma once

#include <cstdint>

namespace heapprof::agent {

enum DwarfRegister : uint32_t {
  kRegisterRbx = 3,
  kRegisterBp = 6,
  kRegisterSp = 7,
  kRegisterR12 = 12,
  kRegisterR15 = 15,
  kRegisterPc = 16,  // the return address column
  kRegisterReturn = kRegisterPc,
  kRegisterCount = 17,
};

struct Registers {
  uint64_t value[kRegisterCount];
  uint32_t known;  // bit i: value[i] is what register i held in this frame

  bool is_known(uint32_t number) const { return number < kRegisterCount && (known >> number & 1) != 0; }
  void set(uint32_t number, uint64_t content) {
    value[number] = content;
    known |= 1u << number;
  }
};

// Reads the registers of the function that this is inlined into. Only callee-saved registers become known. The program
// counter is the address of an instruction in that function, + 1, as for an interrupted frame.
[[gnu::always_inline]] inline void read_own_registers(Registers* registers) {
  uint64_t pc_avma;
  asm volatile(
      "movq %%rbx, 24(%[to])\n\t"
      "movq %%rbp, 48(%[to])\n\t"
      "movq %%rsp, 56(%[to])\n\t"
      "movq %%r12, 96(%[to])\n\t"
      "movq %%r13, 104(%[to])\n\t"
      "movq %%r14, 112(%[to])\n\t"
      "movq %%r15, 120(%[to])\n"
      "0:\tleaq 0b(%%rip), %[pc]"
      : [pc] "=&r"(pc_avma)
      : [to] "r"(registers->value)
      : "memory");
  registers->value[kRegisterPc] = pc_avma + 1;
  registers->known =
      1u << kRegisterRbx | 1u << kRegisterBp | 1u << kRegisterSp | 0xfu << kRegisterR12 | 1u << kRegisterPc;
}

// Not needed: code that a signal handler returns to has call frame information (code.h).
template <typename Load>
bool read_interrupted(Load&&, Registers*) {
  return false;
}

}  // namespace heapprof::agent
