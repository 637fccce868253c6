// cli/collect/books/amount.h: what every sum of the books is of.
#pragma once

#include <cstdint>

namespace heapprof::cli {

struct Amount {
  uint64_t bytes;
  uint64_t blocks;
};

}  // namespace heapprof::cli
