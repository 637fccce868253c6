// cli/collect/books/amount.h: bytes and blocks, the unit of every sum in the books.
#pragma once

#include <cstdint>

namespace heapprof::cli {

// A program can make a sum of all bytes ever larger than 2^64 by mapping and unmapping addresses: such a sum saturates
// (add_to, cli/base/saturating.h). Live bytes are fewer, and counted modulo 2^64.
struct Amount {
  uint64_t bytes;
  uint64_t blocks;
};

}  // namespace heapprof::cli
