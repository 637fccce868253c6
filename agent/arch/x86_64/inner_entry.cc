// agent/arch/x86_64/inner_entry.cc: keeps a caller's registers around what is done before and after its call.
//
// A call that is nested in another one of the allocator and calls by a callee-saved register is looked at a second
// time, with these registers saved: heapprof_inner_before answers 2 then.
#include "agent/arch/x86_64/inner_entry.h"

// At entry, %ebp holds the function's number, and the caller's %rbp is pushed below the return address. Offsets are
// those in InnerCall. The function gets all registers as its caller left them, and the caller gets them as the function
// left them.
asm(R"(
.text
.macro heapprof_load_registers
  movq 40(%rsp), %rdi
  movq 48(%rsp), %rsi
  movq 56(%rsp), %rdx
  movq 64(%rsp), %rcx
  movq 72(%rsp), %r8
  movq 80(%rsp), %r9
  movq 96(%rsp), %rax
  movq 104(%rsp), %r10
  movq 112(%rsp), %r11
  movq 128(%rsp), %rbp
.endm
.macro heapprof_store_registers
  movq %rdi, 40(%rsp)
  movq %rsi, 48(%rsp)
  movq %rdx, 56(%rsp)
  movq %rcx, 64(%rsp)
  movq %r8, 72(%rsp)
  movq %r9, 80(%rsp)
  movq %rax, 96(%rsp)
  movq %r10, 104(%rsp)
  movq %r11, 112(%rsp)
.endm
.globl heapprof_inner
.hidden heapprof_inner
.type heapprof_inner, @function
heapprof_inner:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  leaq -128(%rsp), %rsp
  .cfi_def_cfa_offset 144
  movq %rbp, 120(%rsp)
  heapprof_store_registers
  leaq 128(%rsp), %rbp
  movq %rsp, %rdi
  call heapprof_inner_before
  cmpb $1, %al
  ja 2f
3:
  heapprof_load_registers
  jb 1f
  call *120(%rsp)
heapprof_inner_returned:
  heapprof_store_registers
  movq %rbp, 128(%rsp)
  leaq 128(%rsp), %rbp
  movq %rsp, %rdi
  call heapprof_inner_after
  heapprof_load_registers
  .cfi_remember_state
  leaq 136(%rsp), %rsp
  .cfi_def_cfa_offset 8
  .cfi_restore %rbp
  ret
1:
  .cfi_restore_state
  leaq 136(%rsp), %rsp
  .cfi_def_cfa_offset 8
  .cfi_restore %rbp
  jmp *-16(%rsp)
2:
  .cfi_def_cfa_offset 144
  .cfi_offset %rbp, -16
  subq $48, %rsp
  .cfi_adjust_cfa_offset 48
  movq %rbx, (%rsp)
  movq %r12, 8(%rsp)
  movq %r13, 16(%rsp)
  movq %r14, 24(%rsp)
  movq %r15, 32(%rsp)
  leaq 48(%rsp), %rdi
  movq %rsp, %rsi
  call heapprof_inner_before_kept
  addq $48, %rsp
  .cfi_adjust_cfa_offset -48
  cmpb $1, %al
  jmp 3b
  .cfi_endproc
.size heapprof_inner, . - heapprof_inner
.globl heapprof_inner_returned
.hidden heapprof_inner_returned
)");
