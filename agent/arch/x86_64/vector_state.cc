// agent/arch/x86_64/vector_state.cc: uses XSAVE in its standard form, whose layout CPUID reports, or FXSAVE if XSAVE is
// missing.
#include "agent/libc/vector_state.h"

#include <cpuid.h>

uint32_t heapprof::agent::vector_state::heapprof_vector_parts = 0;

// The function aligns the stack itself: a caller may leave it unaligned if the compiler sees that the callee needs no
// alignment.
asm(R"(
.text
.globl heapprof_call_kept
.hidden heapprof_call_kept
.type heapprof_call_kept, @function
heapprof_call_kept:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  .cfi_offset %rbx, -24
  subq $2760, %rsp
  andq $-64, %rsp
  movq %rdi, %rbx
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %r10
  movq %r8, %rcx
  movl heapprof_vector_parts(%rip), %eax
  cmpl $3, %eax
  je 1f
  xorl %edx, %edx
  movq %rdx, 512(%rsp)
  movq %rdx, 520(%rsp)
  movq %rdx, 528(%rsp)
  movq %rdx, 536(%rsp)
  movq %rdx, 544(%rsp)
  movq %rdx, 552(%rsp)
  movq %rdx, 560(%rsp)
  movq %rdx, 568(%rsp)
  xsave64 (%rsp)
  movq %r10, %rdx
  call *%rbx
  movq %rax, %rbx
  movl heapprof_vector_parts(%rip), %eax
  xorl %edx, %edx
  xrstor64 (%rsp)
  jmp 2f
1:
  fxsave64 (%rsp)
  movq %r10, %rdx
  call *%rbx
  movq %rax, %rbx
  fxrstor64 (%rsp)
2:
  movq %rbx, %rax
  movq -8(%rbp), %rbx
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size heapprof_call_kept, . - heapprof_call_kept
)");

namespace heapprof::agent {

void keep_vector_state() {
  constexpr uint32_t kAlways = 3;             // x87, SSE: FXSAVE keeps these
  constexpr uint32_t kSome[] = {2, 5, 6, 7};  // AVX; opmask; the two upper parts of AVX-512
  constexpr uint32_t kRoomBytes = 2688;       // the room that heapprof_call_kept, above, has for the state
  constexpr uint32_t kStateLeaf = 0xd;
  uint32_t parts = kAlways;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0) {
    uint32_t enabled = 0;
    uint32_t upper = 0;
    asm volatile("xgetbv" : "=a"(enabled), "=d"(upper) : "c"(0));
    for (const uint32_t part : kSome) {
      const bool is_told = (enabled >> part & 1) != 0 && __get_cpuid_count(kStateLeaf, part, &a, &b, &c, &d) != 0;
      if (is_told && a != 0 && b + a <= kRoomBytes) parts |= 1u << part;
    }
  }
  vector_state::heapprof_vector_parts = parts;
}

}  // namespace heapprof::agent
