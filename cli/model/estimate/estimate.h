// cli/model/estimate/estimate.h: computes how much memory a tensor, cache or model needs before it is allocated, and
// whether that much is available.
//
// The formulas are those of heapprof/estimate.hpp, which programs include as well.
#pragma once

#include "cli/base/result.h"

#include <heapprof/estimate.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

enum class EstimateKind : unsigned char { kTensor, kAttention, kKvCache, kWeights };
inline constexpr std::array<const char*, 4> kEstimateKinds = {"tensor", "attention", "kv-cache", "weights"};
inline const char* estimate_kind_name(EstimateKind kind) { return kEstimateKinds[static_cast<size_t>(kind)]; }

// What is to be estimated; only the fields of its kind are used.
struct EstimateInput {
  EstimateKind kind = EstimateKind::kTensor;
  Dtype dtype = Dtype::kF32;
  double overhead = kDefaultOverhead;
  std::vector<uint64_t> shape;  // tensor; empty: a scalar
  uint64_t batch = 1;           // attention, kv-cache
  uint64_t heads = 0;           // attention
  uint64_t sequence = 0;        // attention
  uint64_t head_dim = 0;        // attention, kv-cache
  uint64_t layers = 0;          // kv-cache, as the next four fields
  uint64_t kv_heads = 0;
  uint64_t tokens = 0;  // of each sequence
  uint64_t page_tokens = 1;
  std::optional<uint64_t> pages;  // in all, instead of batch and tokens
  uint64_t parameters = 0;        // weights
};

// Memory that is available, or assumed to be.
struct MemoryAtHand {
  std::string device;        // "cuda:0" if it was measured; empty: a limit that the user gave
  std::string product;       // of a device: "NVIDIA H200"
  uint64_t free_bytes = 0;   // of a device: measured while heapprof has a context on it; otherwise the limit
  uint64_t total_bytes = 0;  // of a device
  std::optional<uint64_t> context_bytes;
  uint64_t reserve_bytes = 0;  // to be left free

  bool is_measured() const { return !device.empty(); }
  uint64_t available_bytes() const { return free_bytes > reserve_bytes ? free_bytes - reserve_bytes : 0; }
};

// The largest value of one input that fits, with the others fixed.
struct LargestInput {
  const char* name = "";   // "batch", "first_dimension", "pages", "parameters"
  const char* words = "";  // "largest batch that fits"
  uint64_t value = 0;      // UINT64_MAX: any
  uint64_t bytes = 0;      // what that value takes, with overhead
};

struct EstimateResult {
  EstimateInput input;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t needed_bytes = 0;  // with overhead
  std::optional<MemoryAtHand> memory;
  std::optional<LargestInput> largest;  // nullopt for a scalar, or without `memory`

  bool fits() const { return !memory || needed_bytes <= memory->available_bytes(); }
};

// "(3×1×1×4×2 + 1×1×4×4 + 1×1×4×2) elements × 4 B (f32)"
std::string estimate_formula(const EstimateInput& input);
// The inputs of the kind by name, in order; none for a tensor.
std::vector<std::pair<const char*, uint64_t>> estimate_numbers(const EstimateInput& input);

// An error if the size does not fit in 64 bits.
Result<EstimateResult> judge_estimate(const EstimateInput& input, const std::optional<MemoryAtHand>& memory);

}  // namespace heapprof::cli
