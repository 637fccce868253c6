// cli/collect/books/sample_weight.h: how many blocks a sampled block stands for (shared/sampling.h).
//
// A block of S bytes is chosen with probability p = 1 − e^(−S/R). So each chosen block counts as 1/p blocks of S bytes,
// and every sum of the books is unbiased (Horvitz and Thompson, 1952). The books count whole blocks: 1/p is rounded up
// or down at random, which keeps its mean, and always the same way for the same block.
//
// Cost:  one exponential when a chosen block begins, and one when it ends.
#pragma once

#include "cli/collect/books/amount.h"
#include "cli/collect/books/live_heap.h"

#include <cstdint>

namespace heapprof::cli {

// interval_bytes: R, not 0
Amount weigh(const Block& block, uint64_t interval_bytes);

}  // namespace heapprof::cli
