// cli/collect/books/amount.h: bytes and blocks, the unit of every sum in the books.
#pragma once

#include <cstdint>

namespace heapprof::cli {

// If a program maps and unmaps addresses again and again, a sum of all bytes ever mapped can exceed 2^64. Such a sum
// saturates (add_to, cli/base/saturating.h). Live bytes are fewer, and counted modulo 2^64.
struct Amount {
  uint64_t bytes;
  uint64_t blocks;
};

}  // namespace heapprof::cli
