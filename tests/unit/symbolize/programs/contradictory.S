# tests/unit/symbolize/programs/contradictory.S: debug information that leads in circles. Its code calls record()
# from a function whose abstract origin is another entry, whose specification is the first again; an inlined copy is its
# own origin; siblings point back to the unit's beginning; ten thousand scopes lie inside each other. A function without
# a size comes last.
        .text
        .globl  main
        .type   main, @function
main:   subq    $8, %rsp
        call    cyclic
        call    unsized
        xorl    %eax, %eax
        addq    $8, %rsp
        ret
        .size   main, .-main

        .globl  cyclic
        .type   cyclic, @function
cyclic: subq    $8, %rsp
        leaq    .Lcyclic(%rip), %rdi
        call    record@PLT
        addq    $8, %rsp
        ret
.Lend:  .size   cyclic, .-cyclic

        .globl  unsized
        .type   unsized, @function
unsized: subq   $8, %rsp
        leaq    .Lunsized(%rip), %rdi
        call    record@PLT
        addq    $8, %rsp
        ret

        .section .rodata
.Lcyclic:  .asciz "cyclic"
.Lunsized: .asciz "unsized"

        .section .debug_abbrev, "", @progbits
.Labbrev:
        .uleb128 1, 0x11; .byte 1                       # compile_unit with children: low_pc addr, high_pc data8
        .uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
        .uleb128 2, 0x2e; .byte 1             # subprogram with children: low_pc, high_pc, abstract_origin, sibling ref4
        .uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0x01, 0x13, 0, 0
        .uleb128 3, 0x1d; .byte 1                   # inlined_subroutine with children: low_pc, high_pc, abstract_origin
        .uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0
        .uleb128 4, 0x2e; .byte 0                       # subprogram: specification ref4
        .uleb128 0x47, 0x13, 0, 0
        .uleb128 5, 0x39; .byte 1                       # namespace with children
        .uleb128 0, 0
        .uleb128 6, 0x2e; .byte 0                       # subprogram: name string
        .uleb128 0x03, 0x08, 0, 0
        .byte   0

        .section .debug_info, "", @progbits
.Lunit: .long   .Lunit_end - .Lversion
.Lversion:
        .value  4
        .long   .Labbrev
        .byte   8
        .uleb128 1
        .quad   cyclic, .Lend - cyclic
.Lfunction:
        .uleb128 2
        .quad   cyclic, .Lend - cyclic
        .long   .Lother - .Lunit, .Lunit - .Lunit
.Linlined:
        .uleb128 3
        .quad   cyclic, .Lend - cyclic
        .long   .Linlined - .Lunit
        .byte   0                                       # end of the inlined copy's children
        .byte   0                                       # end of the function's
.Lother:
        .uleb128 4
        .long   .Lfunction - .Lunit
        .rept   10000
        .uleb128 5
        .endr
        .uleb128 6
        .asciz  "deep"
        .rept   10000
        .byte   0
        .endr
        .byte   0
.Lunit_end:

        .section .note.GNU-stack, "", @progbits
