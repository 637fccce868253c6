// agent/arch/x86_64/entries.cc: each entry decides in a few instructions, jumps on, or asks C++ where to jump to.
//
// It may use r11 alone, which the ABI leaves to code between a call and its function. What is passed to the function is
// kept while C++ runs: the registers for arguments, rax (the number of vector registers of a variadic call), r10. The
// agent uses no vector register.
#include "agent/arch/x86_64/entries.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BEGIN(name) ".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\nendbr64\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"
#define SAVE(reg) "pushq %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define RESTORE(reg) "popq %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define ALIGN "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
#define DROP "addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
#define JUMP_TO_RESULT "jmp *%r11\n"
#define RESULT_TO_R11 "movq %rax, %r11\n"

// ---- Before the agent is relocated: r11 has the address of the function's name ----

// clang-format off
asm(".text\n.globl heapprof_call_early\n.hidden heapprof_call_early\nheapprof_call_early:\n.cfi_startproc\n"
    SAVE(rdi) SAVE(rsi) SAVE(rdx) SAVE(rcx) SAVE(r8) SAVE(r9) SAVE(rax)
    "movq %r11, %rdi\n"
    "call heapprof_find_early\n"
    RESULT_TO_R11
    RESTORE(rax) RESTORE(r9) RESTORE(r8) RESTORE(rcx) RESTORE(rdx) RESTORE(rsi) RESTORE(rdi)
    JUMP_TO_RESULT
    ".cfi_endproc\n");

// ---- hooks/jumped.def: if a condition holds, heapprof_look says where to jump to ----

#define CONDITION_dlopen                                                   \
  "testl $8, %esi\njnz 1f\n" /* RTLD_DEEPBIND */                           \
  "leaq heapprof_own_path(%rip), %r11\ncmpq %r11, %rdi\nje 1f\n"
#define CONDITION_dlmopen                                                  \
  "testq %rdi, %rdi\njnz 1f\n" /* not LM_ID_BASE */                        \
  "testl $8, %edx\njnz 1f\n"   /* RTLD_DEEPBIND */
#define CONDITION_prctl                                                    \
  "cmpl $22, %edi\nje 1f\ncmpl $26, %edi\nje 1f\n" /* PR_SET_SECCOMP, PR_SET_TSC */ \
  "cmpl $1, %edi\nje 1f\ncmpl $59, %edi\nje 1f\n"  /* PR_SET_PDEATHSIG, PR_SET_SYSCALL_USER_DISPATCH */
#define CONDITION_syscall                                                  \
  "cmpq $317, %rdi\nje 1f\ncmpq $157, %rdi\nje 1f\n" /* SYS_seccomp, SYS_prctl */ \
  "cmpq $131, %rdi\nje 1f\n"                         /* SYS_sigaltstack */ \
  "leaq -9(%rdi), %r11\ncmpq $2, %r11\njbe 1f\n"     /* SYS_mmap, SYS_mprotect, SYS_munmap */ \
  "cmpq $25, %rdi\nje 1f\n"                          /* SYS_mremap */

static_assert(RTLD_DEEPBIND == 8 && LM_ID_BASE == 0 && PR_SET_SECCOMP == 22 && PR_SET_TSC == 26 &&
              PR_SET_PDEATHSIG == 1 && PR_SET_SYSCALL_USER_DISPATCH == 59 && SYS_seccomp == 317 && SYS_prctl == 157 &&
              SYS_sigaltstack == 131 && SYS_mmap == 9 && SYS_mprotect == 10 && SYS_munmap == 11 && SYS_mremap == 25);

#define X(index, name)                                      \
  asm(BEGIN(name) CONDITION_##name                          \
      "movq heapprof_jumped + 8*" #index "(%rip), %r11\n"   \
      "testq %r11, %r11\njz 1f\njmp *%r11\n"                \
      "1: pushq $" #index "\n.cfi_adjust_cfa_offset 8\n"    \
      "jmp heapprof_look_and_jump\n" END(name));
#include "agent/hooks/jumped.def"
#undef X

// The index is on the stack.
asm(".text\nheapprof_look_and_jump:\n.cfi_startproc\n.cfi_def_cfa_offset 16\n"
    SAVE(rdi) SAVE(rsi) SAVE(rdx) SAVE(rcx) SAVE(r8) SAVE(r9) SAVE(r10) SAVE(rax)
    "movq %rsp, %r9\n"
    "movq %rcx, %r8\n"
    "movq %rdx, %rcx\n"
    "movq %rsi, %rdx\n"
    "movq %rdi, %rsi\n"
    "movq 64(%rsp), %rdi\n"
    "call heapprof_look\n"
    RESULT_TO_R11
    RESTORE(rax) RESTORE(r10) RESTORE(r9) RESTORE(r8) RESTORE(rcx) RESTORE(rdx) RESTORE(rsi) RESTORE(rdi)
    DROP
    JUMP_TO_RESULT
    ".cfi_endproc\n");

// ---- hooks/operator_new.def: through the operator's slot; heapprof_find_new says what to call if that is empty ----

#define X(index, name, kind, second, third)                 \
  asm(BEGIN(name)                                           \
      "movq heapprof_new_slots + 8*" #index "(%rip), %r11\n" \
      "testq %r11, %r11\njz 1f\njmp *%r11\n"                \
      "1: pushq $" #index "\n.cfi_adjust_cfa_offset 8\n"    \
      "jmp heapprof_find_any_new\n" END(name));
#include "agent/hooks/operator_new.def"
#undef X

asm(".text\nheapprof_find_any_new:\n.cfi_startproc\n.cfi_def_cfa_offset 16\n"
    SAVE(rdi) SAVE(rsi) SAVE(rdx) ALIGN
    "movq 32(%rsp), %rdi\n"
    "call heapprof_find_new\n"
    RESULT_TO_R11
    DROP RESTORE(rdx) RESTORE(rsi) RESTORE(rdi)
    DROP
    JUMP_TO_RESULT
    ".cfi_endproc\n");

// ---- dlsym (cuda/routes.cc): names that begin with "cu" or "In" are asked for; each answer has two registers ----

asm(BEGIN(dlsym)
    "testq %rsi, %rsi\njz 2f\n"
    "cmpb $0x63, (%rsi)\njne 1f\n"
    "cmpb $0x75, 1(%rsi)\njne 2f\n"
    SAVE(rdi) SAVE(rsi) ALIGN
    "movq 24(%rsp), %rdx\n"
    "call heapprof_pick_cuda\n"
    DROP RESTORE(rsi) RESTORE(rdi)
    "testq %rdx, %rdx\njz 2f\n"
    "ret\n"
    "1: cmpb $0x49, (%rsi)\njne 2f\n"
    "cmpb $0x6e, 1(%rsi)\njne 2f\n"
    SAVE(rdi) SAVE(rsi) ALIGN
    "call heapprof_pick_nvtx\n"
    DROP RESTORE(rsi) RESTORE(rdi)
    "testq %rdx, %rdx\njz 2f\n"
    "ret\n"
    "2: movq heapprof_real_dlsym(%rip), %r11\n"
    "testq %r11, %r11\njz 3f\n"
    "jmp *%r11\n"
    "3:\n"
    SAVE(rdi) SAVE(rsi) ALIGN
    "call heapprof_find_dlsym\n"
    RESULT_TO_R11
    DROP RESTORE(rsi) RESTORE(rdi)
    JUMP_TO_RESULT
    END(dlsym));
// clang-format on
