// cli/collect/books/sample_weight.cc: see sample_weight.h.
#include "cli/collect/books/sample_weight.h"

#include "shared/sampling.h"

#include <cmath>

namespace heapprof::cli {

Amount weigh(const Block& block, uint64_t interval_bytes) {
  if (block.size_bytes == 0) return {0, 1};  // no agent samples such a block
  const double weight = -1 / std::expm1(-static_cast<double>(block.size_bytes) / static_cast<double>(interval_bytes));
  const double whole = std::floor(weight);
  const uint64_t bits = wire::mix_bits(block.address ^ wire::mix_bits(block.birth));
  const bool is_up = static_cast<double>(bits >> 11) * 0x1p-53 < weight - whole;
  const uint64_t blocks = static_cast<uint64_t>(whole) + (is_up ? 1 : 0);
  return {blocks * block.size_bytes, blocks};
}

}  // namespace heapprof::cli
