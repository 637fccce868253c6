// tests/bench/random.h: numbers that are the same in each run, for programs that are compiled by themselves.
#pragma once

#include <cstdint>

struct Random {  // xorshift64*
  uint64_t state;
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull;
  }
};
