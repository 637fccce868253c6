// tests/unit/model/estimate_test.cc: what is asked of `heapprof estimate`, as numbers and as a formula.
#include "cli/model/estimate/estimate.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

EstimateInput attention(uint64_t batch) {
  EstimateInput input;
  input.kind = EstimateKind::kAttention;
  input.dtype = Dtype::kF32;
  input.batch = batch;
  input.heads = 1;
  input.sequence = 4;
  input.head_dim = 2;
  return input;
}
EstimateInput kv_cache() {
  EstimateInput input;
  input.kind = EstimateKind::kKvCache;
  input.dtype = Dtype::kFp8;
  input.layers = 2;
  input.kv_heads = 3;
  input.head_dim = 5;
  input.tokens = 17;
  input.batch = 7;
  input.page_tokens = 16;
  return input;
}
MemoryAtHand limit_of(uint64_t bytes, uint64_t reserve_bytes = 0) {
  MemoryAtHand memory;
  memory.free_bytes = bytes;
  memory.reserve_bytes = reserve_bytes;
  return memory;
}

}  // namespace

TEST_CASE("the formula has the numbers in it, and is what is counted") {
  CHECK(estimate_formula(attention(1)) == "(3×1×1×4×2 + 1×1×4×4 + 1×1×4×2) elements × 4 B (f32)");
  CHECK(judge_estimate(attention(1), std::nullopt)->bytes == 192);
  EstimateInput input = kv_cache();
  CHECK(estimate_formula(input) ==
        "2 (keys, values) × 2 layers × 3 KV heads × 5 × 7 sequences × 2 pages × 16 tokens × 1 B (fp8)");
  CHECK(judge_estimate(input, std::nullopt)->bytes == 2 * 2 * 3 * 5 * 7 * 2 * 16);
  input.page_tokens = 1;
  CHECK(estimate_formula(input) ==
        "2 (keys, values) × 2 layers × 3 KV heads × 5 × 7 sequences × 17 tokens × 1 B (fp8)");
  CHECK(judge_estimate(input, std::nullopt)->bytes == 2 * 2 * 3 * 5 * 7 * 17);
  input.page_tokens = 16;
  input.pages = 1000;
  CHECK(estimate_formula(input) ==
        "2 (keys, values) × 2 layers × 3 KV heads × 5 × 1,000 pages × 16 tokens × 1 B (fp8)");
  CHECK(judge_estimate(input, std::nullopt)->bytes == 2 * 2 * 3 * 5 * 1000 * 16);
  EstimateInput tensor;
  CHECK(estimate_formula(tensor) == "1 element × 4 B (f32)");
  tensor.shape = {1};
  CHECK(estimate_formula(tensor) == "1 element × 4 B (f32)");
  tensor.shape = {5, 5};
  tensor.dtype = Dtype::kI4;
  CHECK(estimate_formula(tensor) == "5×5 elements × 4 bits, rounded up to bytes (i4)");
  CHECK(judge_estimate(tensor, std::nullopt)->bytes == 13);
}

TEST_CASE("it fits to the byte, with overhead and beside the reserve") {
  // 192 bytes and 1.1 of them: 212.
  CHECK(judge_estimate(attention(1), limit_of(212))->fits());
  CHECK_FALSE(judge_estimate(attention(1), limit_of(211))->fits());
  CHECK(judge_estimate(attention(1), limit_of(312, 100))->fits());
  CHECK_FALSE(judge_estimate(attention(1), limit_of(312, 101))->fits());
  CHECK_FALSE(judge_estimate(attention(1), limit_of(50, 100))->fits());  // more is reserved than there is
  CHECK(judge_estimate(attention(1), std::nullopt)->fits());
}

TEST_CASE("the largest batch fits, and one more does not") {
  const EstimateResult result = *judge_estimate(attention(1), limit_of(10000, 1000));
  REQUIRE(result.largest);
  CHECK(std::string(result.largest->name) == "batch");
  const uint64_t batch = result.largest->value;
  CHECK(batch == 42);  // 42 × 192 × 1.1 = 8870.4
  CHECK(result.largest->bytes == 8871);
  CHECK(judge_estimate(attention(batch), limit_of(10000, 1000))->fits());
  CHECK_FALSE(judge_estimate(attention(batch + 1), limit_of(10000, 1000))->fits());
}

TEST_CASE("what grows is the batch, the pages, the parameters or the first dimension") {
  EstimateInput input = kv_cache();
  CHECK(std::string(judge_estimate(input, limit_of(1))->largest->name) == "batch");
  CHECK(judge_estimate(input, limit_of(1))->largest->value == 0);
  input.pages = 3;
  CHECK(std::string(judge_estimate(input, limit_of(1056))->largest->name) == "pages");
  CHECK(judge_estimate(input, limit_of(1056))->largest->value == 1);  // a page of 2·2·3·5·16 = 960, and a tenth
  CHECK(judge_estimate(input, limit_of(1055))->largest->value == 0);
  EstimateInput weights;
  weights.kind = EstimateKind::kWeights;
  weights.overhead = 1;
  CHECK(judge_estimate(weights, limit_of(4000))->largest->value == 1000);
  EstimateInput tensor;
  tensor.overhead = 1;
  tensor.shape = {9, 100};
  CHECK(judge_estimate(tensor, limit_of(4000))->largest->value == 10);
  tensor.shape = {9, 0};
  CHECK(judge_estimate(tensor, limit_of(4000))->largest->value == UINT64_MAX);
  tensor.shape = {};
  CHECK_FALSE(judge_estimate(tensor, limit_of(4000))->largest);  // a scalar has nothing that could grow
  CHECK_FALSE(judge_estimate(attention(1), std::nullopt)->largest);
}

TEST_CASE("a size that does not fit in 64 bits is an error, also by its overhead") {
  EstimateInput weights;
  weights.kind = EstimateKind::kWeights;
  weights.dtype = Dtype::kU8;
  weights.parameters = UINT64_MAX;
  CHECK(judge_estimate(weights, std::nullopt).problem().id == "HP197");
  weights.overhead = 1;
  CHECK(judge_estimate(weights, std::nullopt)->bytes == UINT64_MAX);
  weights.dtype = Dtype::kF16;
  CHECK(judge_estimate(weights, std::nullopt).problem().id == "HP197");
}
