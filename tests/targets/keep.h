// tests/targets/keep.h: what every target needs to have its allocations survive the optimizer.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__clang__)
#define KEEP_FRAME __attribute__((noinline))
#else
#define KEEP_FRAME __attribute__((noipa))  // not inlined, cloned or merged
#endif

// The compiler must assume that the block is used here, so the call before it stays, and is no tail call.
inline void* keep(void* block) {
  asm volatile("" : "+r"(block)::"memory");
  return block;
}
