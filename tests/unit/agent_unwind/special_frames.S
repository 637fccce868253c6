// tests/unit/agent_unwind/special_frames.S: functions whose call frame information does not fit in a compact rule.
// Each calls its argument. void NAME(void (*callee)(void)).
        .text

        .macro  begin name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .endm

// The CFA is computed from rbx, which the callees save and reuse; so only a walk with every register finds it.
begin special_cfa_in_rbx
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        movq    %rsp, %rbx
        .cfi_def_cfa rbx, 16
        subq    $128, %rsp
        andq    $-64, %rsp
        call    *%rdi
        movq    %rbx, %rsp
        .cfi_def_cfa rsp, 16
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        ret
        .cfi_endproc
        .size   special_cfa_in_rbx, .-special_cfa_in_rbx

// The return address is in r12; its slot holds 0 meanwhile.
begin special_return_in_r12
        .cfi_startproc
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        movq    8(%rsp), %r12
        .cfi_register 16, 12
        movq    $0, 8(%rsp)
        call    *%rdi
        movq    %r12, 8(%rsp)
        .cfi_offset 16, -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        ret
        .cfi_endproc
        .size   special_return_in_r12, .-special_return_in_r12

// The caller's rbp is kept in r13, and rbp is garbage.
begin special_bp_in_r13
        .cfi_startproc
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        movq    %rbp, %r13
        .cfi_register rbp, r13
        movq    $0x1234567, %rbp
        call    *%rdi
        movq    %r13, %rbp
        .cfi_restore rbp
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        ret
        .cfi_endproc
        .size   special_bp_in_r13, .-special_bp_in_r13

// DW_CFA_def_cfa_expression: DW_OP_breg7 (rsp) 8, DW_OP_deref.
begin special_cfa_in_memory
        .cfi_startproc
        leaq    8(%rsp), %rax
        subq    $24, %rsp
        .cfi_adjust_cfa_offset 24
        movq    %rax, 8(%rsp)
        .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06
        call    *%rdi
        .cfi_def_cfa rsp, 32
        addq    $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        .cfi_endproc
        .size   special_cfa_in_memory, .-special_cfa_in_memory

// DW_CFA_def_cfa_expression: DW_OP_breg14 (r14) 40, DW_OP_lit2, DW_OP_lit4, DW_OP_mul, DW_OP_minus, DW_OP_lit16,
// DW_OP_minus. Together r14 + 16; DW_CFA_val_expression for rsp: the CFA, by DW_OP_nop.
begin special_arithmetic
        .cfi_startproc
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        movq    %rsp, %r14
        .cfi_escape 0x0f, 0x08, 0x7e, 40, 0x32, 0x34, 0x1e, 0x1c, 0x40, 0x1c
        .cfi_escape 0x16, 0x07, 0x01, 0x96
        subq    $64, %rsp
        call    *%rdi
        movq    %r14, %rsp
        .cfi_def_cfa rsp, 16
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        ret
        .cfi_endproc
        .size   special_arithmetic, .-special_arithmetic

// The stack ends here by its own word.
begin special_end
        .cfi_startproc
        .cfi_undefined 16
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    *%rdi
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   special_end, .-special_end

// Without any call frame information, but with a frame pointer.
begin undescribed
        pushq   %rbp
        movq    %rsp, %rbp
        call    *%rdi
        popq    %rbp
        ret
        .size   undescribed, .-undescribed

        .section .note.GNU-stack, "", @progbits
