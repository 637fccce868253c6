// agent/arch/x86_64/entries.h: exported functions that are written in assembly, because they must jump on without a
// frame of their own, and with all arguments unchanged.
//
// entries.cc has those of dlsym, of the operators (hooks/operator_new.def) and of hooks/jumped.def.
#pragma once

#include <cstddef>

// Assembly of the function `symbol`, which jumps to `target`. Before the agent is relocated, it jumps instead to the
// next definition of `name` after the agent, with all arguments unchanged (process/early.h).
#define HEAPPROF_EARLY_ENTRY(symbol, name, target)                                                   \
  asm(".text\n.globl " symbol "\n.type " symbol ", @function\n" symbol                               \
      ":\n"                                                                                          \
      ".cfi_startproc\nendbr64\n"                                                                    \
      "leaq heapprof_own_address(%rip), %r11\ncmpq %r11, heapprof_own_address(%rip)\njne 1f\n"       \
      "jmp " target                                                                                  \
      "\n"                                                                                           \
      "1: leaq 2f(%rip), %r11\njmp heapprof_call_early\n.cfi_endproc\n.size " symbol ", . - " symbol \
      "\n.pushsection .rodata.str1.1, \"aMS\", @progbits, 1\n2: .asciz \"" name                      \
      "\"\n"                                                                                         \
      ".popsection\n")

// Exports the function as `symbol` with that version (agent.map).
#define HEAPPROF_EXPORT_VERSION(function, symbol, version) asm(".symver " function ", " symbol version);
// What only processors have whose libc has older versions of functions.
#define HEAPPROF_OLD_LIBC(...) __VA_ARGS__

namespace heapprof::agent {

inline constexpr const char* kFirstGlibc = "GLIBC_2.2.5";  // the version of the first libc for this processor

// Indexes into the words that an entry of hooks/jumped.def saves on the stack: of the caller's third and second
// argument, and of the address that the call returns to.
inline constexpr size_t kSavedThird = 5;
inline constexpr size_t kSavedSecond = 6;
inline constexpr size_t kSavedCaller = 9;

}  // namespace heapprof::agent
