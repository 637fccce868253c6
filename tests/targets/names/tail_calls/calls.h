// tests/targets/names/tail_calls/calls.h: what the functions of these files are made of.
#pragma once

#define LEFT __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
#define BARRIER(code) __asm__ volatile(code ::: "memory")

// Allocates and does something after it, so that it is in the stack.
#define LEAF(name)                           \
  LEFT void* leaf_##name(int n) {            \
    void* const block = malloc((unsigned)n); \
    BARRIER("");                             \
    keep_one(block);                         \
    BARRIER("# " #name);                     \
    return block;                            \
  }

#define CALLER(name) LEFT static void call_##name(int n)
// The call is not the last deed.
#define CALL(...) \
  do {            \
    __VA_ARGS__;  \
    BARRIER("");  \
  } while (0)

void* keep_one(void* block);
void* left_far(int n);
void* far_to_back(int n);
void* left_back(int n);
extern volatile int choice;
