// agent/libc/valgrind.h: whether this process runs in Valgrind. Valgrind ends a program that makes a system call
// unknown to Valgrind, and warns its user of arguments that Linux merely refuses.
//
// Context:  anywhere.
// Cost:     some instructions.
#pragma once

#include "agent/arch/arch.h"

namespace heapprof::agent {

inline bool is_in_valgrind() {
  const volatile uint64_t request[6] = {0x1001};  // RUNNING_ON_VALGRIND
  return ask_valgrind(request, 0) != 0;
}

}  // namespace heapprof::agent
