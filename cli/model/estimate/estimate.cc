// cli/model/estimate/estimate.cc: the largest batch is found by trial. To compute it, each kind would need a second,
// inverted formula, which would have to know how pages, packed elements and overhead are rounded.
#include "cli/model/estimate/estimate.h"

#include "cli/base/problems.h"
#include "cli/base/units.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

// A number of pages is computed as the same number of sequences of one page each.
KvCacheShape kv_cache_shape(const EstimateInput& input) {
  const uint64_t batch = input.pages ? *input.pages : input.batch;
  const uint64_t tokens = input.pages ? input.page_tokens : input.tokens;
  return {input.layers, input.kv_heads, input.head_dim, tokens, batch, input.page_tokens};
}

ByteEstimate estimate_of(const EstimateInput& input) {
  switch (input.kind) {
    case EstimateKind::kTensor: return try_estimate_tensor_bytes(input.shape, input.dtype);
    case EstimateKind::kAttention:
      return try_estimate_attention_memory({input.batch, input.heads, input.sequence, input.head_dim}, input.dtype);
    case EstimateKind::kKvCache: return try_estimate_kv_cache_memory(kv_cache_shape(input), input.dtype);
    case EstimateKind::kWeights: return try_estimate_weight_memory(input.parameters, input.dtype);
  }
  return {};
}

ByteEstimate with_overhead(const EstimateInput& input) {
  const ByteEstimate estimate = estimate_of(input);
  return estimate ? try_add_overhead(estimate.bytes, input.overhead) : estimate;
}

// The field of the input that is increased to find the largest value that fits; nullptr if there is no such field (a
// scalar).
uint64_t* growing_number(EstimateInput* input, LargestInput* largest) {
  switch (input->kind) {
    case EstimateKind::kTensor:
      *largest = {"first_dimension", "largest first dimension that fits"};
      return input->shape.empty() ? nullptr : input->shape.data();
    case EstimateKind::kWeights: *largest = {"parameters", "most parameters that fit"}; return &input->parameters;
    case EstimateKind::kKvCache:
      if (!input->pages) break;
      *largest = {"pages", "most pages that fit"};
      return &*input->pages;
    case EstimateKind::kAttention: break;
  }
  *largest = {"batch", "largest batch that fits"};
  return &input->batch;
}

std::optional<LargestInput> find_largest(EstimateInput input, uint64_t available_bytes) {
  LargestInput largest;
  uint64_t* const number = growing_number(&input, &largest);
  if (number == nullptr) return std::nullopt;
  const auto estimate_with = [&](uint64_t n) {
    *number = n;
    return with_overhead(input);
  };
  largest.value = largest_that_fits(available_bytes, estimate_with);
  largest.bytes = estimate_with(largest.value).bytes;
  return largest;
}

std::string joined_by_times(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (const uint64_t number : numbers) text += (text.empty() ? "" : "×") + std::to_string(number);
  return text;
}

std::string kv_cache_formula(const EstimateInput& input) {
  const std::string start = fmt::format("2 (keys, values) × {} × {} × {} × ", format_counted(input.layers, "layer"),
                                        format_counted(input.kv_heads, "KV head"), input.head_dim);
  if (input.pages)
    return start +
           fmt::format("{} pages × {}", format_count_exact(*input.pages), format_counted(input.page_tokens, "token"));
  const std::string sequences = format_counted(input.batch, "sequence") + " × ";
  if (input.page_tokens == 1) return start + sequences + format_count_exact(input.tokens) + " tokens";
  const uint64_t pages = input.tokens / input.page_tokens + (input.tokens % input.page_tokens == 0 ? 0 : 1);
  return start + sequences +
         fmt::format("{} pages × {}", format_count_exact(pages), format_counted(input.page_tokens, "token"));
}

std::string elements_formula(const EstimateInput& input) {
  const uint64_t b = input.batch;
  const uint64_t h = input.heads;
  const uint64_t s = input.sequence;
  const uint64_t d = input.head_dim;
  switch (input.kind) {
    case EstimateKind::kTensor:
      return input.shape.empty() || input.shape == std::vector<uint64_t>{1}
                 ? "1 element"
                 : joined_by_times(input.shape) + " elements";
    case EstimateKind::kAttention:
      return fmt::format("({} + {} + {}) elements", joined_by_times({3, b, h, s, d}), joined_by_times({b, h, s, s}),
                         joined_by_times({b, h, s, d}));
    case EstimateKind::kKvCache: return kv_cache_formula(input);
    case EstimateKind::kWeights: return format_count_exact(input.parameters) + " parameters";
  }
  return "";
}

}  // namespace

std::string estimate_formula(const EstimateInput& input) {
  const unsigned bits = dtype_bits(input.dtype);
  const std::string size = bits < 8 ? fmt::format("{} bits, rounded up to bytes", bits) : fmt::format("{} B", bits / 8);
  return fmt::format("{} × {} ({})", elements_formula(input), size, dtype_name(input.dtype));
}

std::vector<std::pair<const char*, uint64_t>> estimate_numbers(const EstimateInput& input) {
  switch (input.kind) {
    case EstimateKind::kTensor: return {};
    case EstimateKind::kAttention:
      return {{"batch", input.batch}, {"heads", input.heads}, {"seq", input.sequence}, {"head_dim", input.head_dim}};
    case EstimateKind::kKvCache:
      if (input.pages)
        return {{"layers", input.layers},
                {"kv_heads", input.kv_heads},
                {"head_dim", input.head_dim},
                {"pages", *input.pages},
                {"page_size", input.page_tokens}};
      return {{"layers", input.layers}, {"kv_heads", input.kv_heads}, {"head_dim", input.head_dim},
              {"batch", input.batch},   {"tokens", input.tokens},     {"page_size", input.page_tokens}};
    case EstimateKind::kWeights: return {{"parameters", input.parameters}};
  }
  return {};
}

Result<EstimateResult> judge_estimate(const EstimateInput& input, const std::optional<MemoryAtHand>& memory) {
  const ByteEstimate estimate = estimate_of(input);
  const ByteEstimate needed = with_overhead(input);
  if (!needed) return estimate_overflows(estimate_kind_name(input.kind), estimate_formula(input));
  EstimateResult result{input, estimate.elements, estimate.bytes, needed.bytes, memory, std::nullopt};
  if (memory) result.largest = find_largest(input, memory->available_bytes());
  return result;
}

}  // namespace heapprof::cli
