// agent/arch/aarch64/entries.h: exported functions that are written in assembly, because they must jump on without a
// frame of their own, and with all arguments unchanged.
//
// entries.cc has those of dlsym, of the operators (hooks/operator_new.def) and of hooks/jumped.def.
#pragma once

#include <cstddef>

// Assembly of the function `symbol`, which jumps to `target`. Before the agent is relocated, it jumps instead to the
// next definition of `name` after the agent, with all arguments unchanged (process/early.h).
#define HEAPPROF_EARLY_ENTRY(symbol, name, target)                                                                  \
  asm(".text\n.globl " symbol "\n.type " symbol ", @function\n" symbol                                              \
      ":\n"                                                                                                         \
      ".cfi_startproc\nhint #34\n"                                                                                  \
      "adrp x16, heapprof_own_address\nadd x16, x16, :lo12:heapprof_own_address\n"                                  \
      "ldr x17, [x16]\ncmp x16, x17\nb.ne 1f\n"                                                                     \
      "b " target                                                                                                   \
      "\n"                                                                                                          \
      "1: adrp x16, 2f\nadd x16, x16, :lo12:2f\nb heapprof_call_early\n.cfi_endproc\n.size " symbol ", . - " symbol \
      "\n.pushsection .rodata.str1.1, \"aMS\", @progbits, 1\n2: .asciz \"" name                                     \
      "\"\n"                                                                                                        \
      ".popsection\n")

// Exports the function as `symbol`. libc has these functions in one version here, so that none is needed.
#define HEAPPROF_EXPORT_VERSION(function, symbol, version) \
  asm(".globl " symbol "\n.type " symbol ", @function\n.set " symbol ", " function);
// What only processors have whose libc has older versions of functions.
#define HEAPPROF_OLD_LIBC(...)

namespace heapprof::agent {

inline constexpr const char* kFirstGlibc = "GLIBC_2.17";  // the version of the first libc for this processor

// Indexes into the words that an entry of hooks/jumped.def saves on the stack: of the caller's third and second
// argument, and of the address that the call returns to.
inline constexpr size_t kSavedThird = 4;
inline constexpr size_t kSavedSecond = 3;
inline constexpr size_t kSavedCaller = 1;

}  // namespace heapprof::agent
