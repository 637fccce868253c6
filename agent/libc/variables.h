// agent/libc/variables.h: variables of libc and the loader that the agent reads.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
extern char** environ;
extern void* __libc_stack_end;  // where the kernel put argc: set before libc has set environ
}
#pragma GCC visibility pop
