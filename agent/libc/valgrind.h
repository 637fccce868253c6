// agent/libc/valgrind.h: whether this process runs in Valgrind, which ends a program that makes a system call unknown
// to it, and warns its user of arguments that Linux merely refuses.
//
// Context:  anywhere.
// Cost:     some instructions.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

// Asks by a client request, which are instructions that do nothing on a processor. Source: RUNNING_ON_VALGRIND, and the
// mechanism below it, in Valgrind's manual ("The Client Request mechanism") and its valgrind.h.
inline bool is_in_valgrind() {
  volatile uint64_t request[6] = {0x1001};
  uint64_t answer = 0;
  asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
               : "+d"(answer)
               : "a"(request)
               : "cc", "memory");
  return answer != 0;
}

}  // namespace heapprof::agent
