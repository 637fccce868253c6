// agent/arch/aarch64/entries.cc: each entry decides in a few instructions, jumps on, or asks C++ where to jump to.
//
// It may use x16 and x17 alone, which the ABI leaves to code between a call and its function. What is passed to the
// function is kept while C++ runs: x0 to x8. The agent uses no vector register.
#include "agent/arch/aarch64/entries.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BEGIN(name) ".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\nhint #34\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"
// A frame of 96 bytes: a frame record, then x0 to x8.
#define SAVE                                                                                                   \
  "stp x29, x30, [sp, #-96]!\n.cfi_def_cfa_offset 96\n.cfi_offset 29, -96\n.cfi_offset 30, -88\nmov x29, sp\n" \
  "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
#define RESTORE                                                                                                     \
  "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n" \
  "ldp x29, x30, [sp], #96\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n"
#define WORD_OF(table, index) "adrp x16, " table " + 8*" #index "\nldr x16, [x16, #:lo12:" table " + 8*" #index "]\n"

// ---- Before the agent is relocated: x16 has the address of the function's name ----

// clang-format off
asm(".text\n.globl heapprof_call_early\n.hidden heapprof_call_early\nheapprof_call_early:\n.cfi_startproc\n"
    SAVE
    "mov x0, x16\n"
    "bl heapprof_find_early\n"
    "mov x16, x0\n"
    RESTORE
    "br x16\n"
    ".cfi_endproc\n");

// ---- hooks/jumped.def: if a condition holds, heapprof_look says where to jump to ----

#define CONDITION_dlopen                                                   \
  "tbnz w1, #3, 1f\n" /* RTLD_DEEPBIND */                                  \
  "adrp x16, heapprof_own_path\nadd x16, x16, :lo12:heapprof_own_path\ncmp x0, x16\nb.eq 1f\n"
#define CONDITION_dlmopen                                                  \
  "cbnz x0, 1f\n"     /* not LM_ID_BASE */                                 \
  "tbnz w2, #3, 1f\n" /* RTLD_DEEPBIND */
#define CONDITION_prctl                                                    \
  "cmp w0, #22\nb.eq 1f\ncmp w0, #26\nb.eq 1f\n" /* PR_SET_SECCOMP, PR_SET_TSC */ \
  "cmp w0, #1\nb.eq 1f\ncmp w0, #59\nb.eq 1f\n"  /* PR_SET_PDEATHSIG, PR_SET_SYSCALL_USER_DISPATCH */
#define CONDITION_syscall                                                  \
  "cmp x0, #277\nb.eq 1f\ncmp x0, #167\nb.eq 1f\n" /* SYS_seccomp, SYS_prctl */ \
  "cmp x0, #132\nb.eq 1f\n"                        /* SYS_sigaltstack */   \
  "cmp x0, #222\nb.eq 1f\ncmp x0, #226\nb.eq 1f\n" /* SYS_mmap, SYS_mprotect */ \
  "cmp x0, #215\nb.eq 1f\ncmp x0, #216\nb.eq 1f\n" /* SYS_munmap, SYS_mremap */

static_assert(RTLD_DEEPBIND == 8 && LM_ID_BASE == 0 && PR_SET_SECCOMP == 22 && PR_SET_TSC == 26 &&
              PR_SET_PDEATHSIG == 1 && PR_SET_SYSCALL_USER_DISPATCH == 59 && SYS_seccomp == 277 && SYS_prctl == 167 &&
              SYS_sigaltstack == 132 && SYS_mmap == 222 && SYS_mprotect == 226 && SYS_munmap == 215 &&
              SYS_mremap == 216);

#define X(index, name)                                      \
  asm(BEGIN(name) CONDITION_##name                          \
      WORD_OF("heapprof_jumped", index)                     \
      "cbz x16, 1f\nbr x16\n"                               \
      "1: mov x17, #" #index "\n"                           \
      "b heapprof_look_and_jump\n" END(name));
#include "agent/hooks/jumped.def"
#undef X

// The index is in x17.
asm(".text\nheapprof_look_and_jump:\n.cfi_startproc\n"
    SAVE
    "mov x5, sp\n"
    "mov x4, x3\n"
    "mov x3, x2\n"
    "mov x2, x1\n"
    "mov x1, x0\n"
    "mov x0, x17\n"
    "bl heapprof_look\n"
    "mov x16, x0\n"
    RESTORE
    "br x16\n"
    ".cfi_endproc\n");

// ---- hooks/operator_new.def: through the operator's slot; heapprof_find_new says what to call if that is empty ----

#define X(index, name, kind, second, third)                 \
  asm(BEGIN(name)                                           \
      WORD_OF("heapprof_new_slots", index)                  \
      "cbz x16, 1f\nbr x16\n"                               \
      "1: mov x17, #" #index "\n"                           \
      "b heapprof_find_any_new\n" END(name));
#include "agent/hooks/operator_new.def"
#undef X

asm(".text\nheapprof_find_any_new:\n.cfi_startproc\n"
    SAVE
    "mov x0, x17\n"
    "bl heapprof_find_new\n"
    "mov x16, x0\n"
    RESTORE
    "br x16\n"
    ".cfi_endproc\n");

// ---- dlsym (cuda/routes.cc): names that begin with "cu" or "In" are asked for; each answer has two registers ----

asm(BEGIN(dlsym)
    "cbz x1, 2f\n"
    "ldrb w16, [x1]\ncmp w16, #0x63\nb.ne 1f\n"
    "ldrb w16, [x1, #1]\ncmp w16, #0x75\nb.ne 2f\n"
    SAVE
    "mov x2, x30\n"
    "bl heapprof_pick_cuda\n"
    "b 4f\n"
    ".cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n"
    "1: cmp w16, #0x49\nb.ne 2f\n"
    "ldrb w16, [x1, #1]\ncmp w16, #0x6e\nb.ne 2f\n"
    SAVE
    "bl heapprof_pick_nvtx\n"
    "4: mov x16, x0\n"
    "mov x17, x1\n"
    RESTORE
    "cbz x17, 2f\n"
    "mov x0, x16\n"
    "mov x1, x17\n"
    "ret\n"
    "2: adrp x16, heapprof_real_dlsym\nldr x16, [x16, #:lo12:heapprof_real_dlsym]\n"
    "cbz x16, 3f\n"
    "br x16\n"
    "3:\n"
    SAVE
    "bl heapprof_find_dlsym\n"
    "mov x16, x0\n"
    RESTORE
    "br x16\n"
    END(dlsym));
// clang-format on
