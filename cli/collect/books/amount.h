// cli/collect/books/amount.h: what every sum of the books is of.
#pragma once

#include <cstdint>

namespace heapprof::cli {

// A sum of all bytes ever, which a program can make larger than 2^64 by mapping and unmapping addresses, stops at the
// largest number (add_to, cli/base/saturating.h). What is live is less, and counted modulo 2^64.
struct Amount {
  uint64_t bytes;
  uint64_t blocks;
};

}  // namespace heapprof::cli
