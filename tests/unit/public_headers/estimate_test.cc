// tests/unit/public_headers/estimate_test.cc: heapprof/estimate.hpp: sizes, and what is no size.
#include <catch2/catch.hpp>
#include <heapprof/estimate.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heapprof {
namespace {

constexpr uint64_t kMax = UINT64_MAX;
__extension__ using Wide = unsigned __int128;

// The estimates are there when the program is compiled, too.
static_assert(try_estimate_tensor_bytes({10, 100}, Dtype::kF32).bytes == 4000);
static_assert(try_estimate_attention_memory({1, 1, 4, 2}, Dtype::kF32).bytes == 192);
static_assert(*parse_parameters("7B") == 7000000000);
static_assert(try_add_overhead(1000).bytes == 1100);

EstimateFault fault_of(const ByteEstimate& estimate) { return estimate.fault; }

TEST_CASE("a tensor takes its elements times their size") {
  CHECK(estimate_tensor_bytes({10, 100}, Dtype::kF32) == 4000);
  CHECK(estimate_tensor_bytes({10, 100}, Dtype::kF16) == 2000);
  CHECK(estimate_tensor_bytes({0}, Dtype::kF32) == 0);
  CHECK(estimate_tensor_bytes({10, 100}, Dtype::kTf32) == 4000);
  CHECK(estimate_tensor_bytes({10, 100}, Dtype::kF64) == 8000);
  CHECK(estimate_tensor_bytes({10, 100}, Dtype::kBool) == 1000);
}

TEST_CASE("a shape without dimensions is a scalar, of one element") {
  CHECK(estimate_tensor_bytes({}, Dtype::kF32) == 4);
  CHECK(estimate_tensor_bytes({}, Dtype::kI4) == 1);
  CHECK(estimate_tensor_bytes(std::vector<int64_t>{}, Dtype::kF64) == 8);
}

TEST_CASE("every type has its size, its name and its row") {
  const std::vector<std::pair<Dtype, unsigned>> bits = {
      {Dtype::kF64, 64}, {Dtype::kF32, 32}, {Dtype::kTf32, 32}, {Dtype::kBf16, 16}, {Dtype::kF16, 16},
      {Dtype::kFp8, 8},  {Dtype::kI64, 64}, {Dtype::kI32, 32},  {Dtype::kI16, 16},  {Dtype::kI8, 8},
      {Dtype::kU64, 64}, {Dtype::kU32, 32}, {Dtype::kU16, 16},  {Dtype::kU8, 8},    {Dtype::kBool, 8},
      {Dtype::kFp4, 4},  {Dtype::kI4, 4},   {Dtype::kU4, 4}};
  CHECK(bits.size() == std::size(kDtypes));
  for (const auto& [dtype, want] : bits) {
    CHECK(kDtypes[static_cast<size_t>(dtype)].id.dtype == dtype);
    CHECK(dtype_bits(dtype) == want);
    CHECK(parse_dtype(dtype_name(dtype)) == dtype);
    CHECK(estimate_tensor_bytes({2, 4}, dtype) == want);  // eight elements take as many bytes as one takes bits
  }
}

TEST_CASE("no name means two types") {
  std::vector<std::string_view> names;
  for (const DtypeFacts& facts : kDtypes) names.push_back(facts.id.name);
  for (const DtypeName& alias : kDtypeAliases) {
    names.push_back(alias.name);
    CHECK(parse_dtype(alias.name) == alias.dtype);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("types are known by what others call them, in any case of letters") {
  CHECK(parse_dtype("BF16") == Dtype::kBf16);
  CHECK(parse_dtype("bfloat16") == Dtype::kBf16);
  CHECK(parse_dtype("Half") == Dtype::kF16);
  CHECK(parse_dtype("e5m2") == Dtype::kFp8);
  CHECK(parse_dtype("E4M3") == Dtype::kFp8);
  CHECK(parse_dtype("int4") == Dtype::kI4);
  for (const char* unknown : {"", " ", "f", "f33", "f32 ", "fp", "float3", "bf16x"}) CHECK_FALSE(parse_dtype(unknown));
}

TEST_CASE("packed types take two elements a byte, and an odd one takes a byte") {
  for (const Dtype packed : {Dtype::kI4, Dtype::kU4, Dtype::kFp4}) {
    CHECK(estimate_tensor_bytes({0}, packed) == 0);
    CHECK(estimate_tensor_bytes({1}, packed) == 1);
    CHECK(estimate_tensor_bytes({2}, packed) == 1);
    CHECK(estimate_tensor_bytes({3}, packed) == 2);
    CHECK(estimate_tensor_bytes({5, 5}, packed) == 13);  // of the whole tensor, not of each row
    CHECK(estimate_tensor_bytes({kMax}, packed) == kMax / 2 + 1);
  }
}

TEST_CASE("a dimension of 0 makes 0, even where the others do not fit") {
  CHECK(estimate_tensor_bytes({0, kMax, kMax}, Dtype::kF64) == 0);
  CHECK(estimate_tensor_bytes({kMax, kMax, 0}, Dtype::kF64) == 0);
  CHECK(estimate_tensor_bytes({kMax, 0, kMax}, Dtype::kI4) == 0);
  CHECK(estimate_attention_memory(0, kMax, kMax, kMax, Dtype::kF64) == 0);
  CHECK(estimate_attention_memory(kMax, kMax, 0, kMax, Dtype::kF64) == 0);
  CHECK(estimate_attention_memory(2, 3, 5, 0, Dtype::kF32) == 2 * 3 * 5 * 5 * 4);  // the scores need no head_dim
  CHECK(estimate_kv_cache_memory({0, kMax, kMax, kMax, kMax, 7}, Dtype::kF64) == 0);
  CHECK(estimate_kv_cache_memory({kMax, kMax, kMax, 0, kMax, 7}, Dtype::kF64) == 0);
}

TEST_CASE("what does not fit in 64 bits is an error, at every multiplication") {
  CHECK(estimate_tensor_bytes({kMax}, Dtype::kU8) == kMax);
  CHECK(fault_of(try_estimate_tensor_bytes({kMax, 2}, Dtype::kU8)) == EstimateFault::kOverflow);         // elements
  CHECK(fault_of(try_estimate_tensor_bytes({2, 3, kMax / 5}, Dtype::kU8)) == EstimateFault::kOverflow);  // the last
  CHECK(fault_of(try_estimate_tensor_bytes({kMax / 2, 3, 1}, Dtype::kI4)) == EstimateFault::kOverflow);  // the second
  CHECK(fault_of(try_estimate_tensor_bytes({kMax / 2 + 1}, Dtype::kF16)) == EstimateFault::kOverflow);   // bytes
  CHECK(estimate_tensor_bytes({kMax / 8}, Dtype::kF64) == kMax / 8 * 8);
  CHECK(fault_of(try_estimate_tensor_bytes({kMax / 8 + 1}, Dtype::kF64)) == EstimateFault::kOverflow);
  CHECK(fault_of(try_estimate_tensor_bytes({1ull << 32, 1ull << 32}, Dtype::kI4)) == EstimateFault::kOverflow);
  const ByteEstimate refused = try_estimate_tensor_bytes({kMax, 2}, Dtype::kU8);
  CHECK_FALSE(refused);
  CHECK(refused.bytes == 0);
  CHECK(refused.elements == 0);
}

TEST_CASE("attention is an error where a product or a sum of it does not fit") {
  const auto fault = [](uint64_t batch, uint64_t heads, uint64_t sequence, uint64_t head_dim, Dtype dtype) {
    return try_estimate_attention_memory({batch, heads, sequence, head_dim}, dtype).fault;
  };
  CHECK(fault(kMax, 2, 1, 1, Dtype::kU8) == EstimateFault::kOverflow);          // B·H
  CHECK(fault(1, kMax / 2, 3, 1, Dtype::kU8) == EstimateFault::kOverflow);      // ·S
  CHECK(fault(1, 1, 1, kMax / 3, Dtype::kU8) == EstimateFault::kOverflow);      // 3· and 1·
  CHECK(fault(1, 1, 2, kMax / 2, Dtype::kU8) == EstimateFault::kOverflow);      // ·D, and then 4·
  CHECK(fault(1, 1, 1ull << 32, 1, Dtype::kU8) == EstimateFault::kOverflow);    // S²
  CHECK(fault(1, 1, 1, kMax / 4, Dtype::kU8) == EstimateFault::kNone);          // 4·(2^62 - 1) + 1
  CHECK(estimate_attention_memory(1, 1, 2, kMax / 8, Dtype::kU8) == kMax - 3);  // 4·(2^62 - 2) + 4, the most that fits
  CHECK(fault(1, 1, 1, kMax / 4, Dtype::kBf16) == EstimateFault::kOverflow);    // bytes
  CHECK(fault(1, 1, 3, kMax / 12, Dtype::kU8) == EstimateFault::kOverflow);     // the sum by its last 9
}

TEST_CASE("attention is query, key, value, scores and output") {
  CHECK(estimate_attention_memory(1, 1, 4, 2, Dtype::kF32) == 192);
  CHECK(estimate_attention_memory({1, 1, 4, 2}, Dtype::kF32) == 192);
  const uint64_t b = 8, h = 32, s = 4096, d = 128;
  CHECK(estimate_attention_memory(b, h, s, d, Dtype::kF16) == 2 * (4 * b * h * s * d + b * h * s * s));
  CHECK(try_estimate_attention_memory({1, 1, 1, 1}, Dtype::kI4).elements == 5);
  CHECK(estimate_attention_memory(1, 1, 1, 1, Dtype::kI4) == 3);
}

TEST_CASE("a key-value cache takes whole pages for each sequence") {
  const KvCacheShape llama = {32, 8, 128, 8192, 16, 16};
  CHECK(estimate_kv_cache_memory(llama, Dtype::kF16) == 2ull * 32 * 8 * 128 * 8192 * 16 * 2);
  CHECK(estimate_kv_cache_memory({1, 1, 1, 17, 3, 16}, Dtype::kU8) == 2 * 32 * 3);  // 2 pages each
  CHECK(estimate_kv_cache_memory({1, 1, 1, 16, 3, 16}, Dtype::kU8) == 2 * 16 * 3);
  CHECK(estimate_kv_cache_memory({1, 1, 1, 17}, Dtype::kU8) == 2 * 17);
  CHECK(estimate_kv_cache_memory({1, 1, 1, 17}, Dtype::kFp4) == 17);
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, 17, 1, 0}, Dtype::kU8).fault == EstimateFault::kBadPage);
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, kMax, 1, 2}, Dtype::kU8).fault ==
        EstimateFault::kOverflow);  // rounded up
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, 1, 1, kMax}, Dtype::kU8).fault ==
        EstimateFault::kOverflow);  // keys, values
  for (int large = 0; large < 5; ++large) {
    uint64_t f[5] = {1, 1, 1, 1, 1};
    f[large] = kMax / 2 + 1;
    CHECK(try_estimate_kv_cache_memory({f[0], f[1], f[2], f[3], f[4]}, Dtype::kU8).fault == EstimateFault::kOverflow);
    f[large] = kMax / 2;
    CHECK(estimate_kv_cache_memory({f[0], f[1], f[2], f[3], f[4]}, Dtype::kU8) == kMax - 1);
  }
}

TEST_CASE("weights take parameters times their size") {
  CHECK(estimate_weight_memory(7000000000, Dtype::kBf16) == 14000000000);
  CHECK(estimate_weight_memory(7000000001, Dtype::kI4) == 3500000001);
  CHECK(try_estimate_weight_memory(kMax, Dtype::kF16).fault == EstimateFault::kOverflow);
}

TEST_CASE("a negative number is an error, and no large one") {
  const std::vector<int64_t> shape = {10, -1};
  CHECK(try_estimate_tensor_bytes(shape, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_tensor_bytes({0, -1}, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_weight_memory(-1, Dtype::kI4).fault == EstimateFault::kNegative);
  CHECK(try_estimate_attention_memory({1, 1, -4, 2}, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_attention_memory({1, 1, 4, -2}, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, -1}, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, 1, 1, -16}, Dtype::kF32).fault == EstimateFault::kNegative);
  CHECK(try_estimate_kv_cache_memory({1, 1, 1, 1, -1}, Dtype::kF32).fault == EstimateFault::kNegative);
}

TEST_CASE("a shape is any container of integers, or a list of several kinds") {
  const short rows = 10;
  const size_t columns = 100;
  CHECK(estimate_tensor_bytes({rows, columns}, Dtype::kF32) == 4000);
  CHECK(estimate_tensor_bytes(std::array<int, 2>{10, 100}, Dtype::kF32) == 4000);
  CHECK(estimate_tensor_bytes(std::vector<uint32_t>{10, 100}, Dtype::kF32) == 4000);
  const uint8_t shape[] = {10, 100};
  CHECK(estimate_tensor_bytes(shape, Dtype::kF32) == 4000);
}

TEST_CASE("the same errors are thrown, with what is wrong") {
  CHECK_THROWS_AS(estimate_tensor_bytes({kMax, 2}, Dtype::kU8), EstimateError);
  CHECK_THROWS_AS(estimate_attention_memory(kMax, 2, 1, 1, Dtype::kU8), EstimateError);
  CHECK_THROWS_AS(estimate_kv_cache_memory({kMax, 2, 1, 1}, Dtype::kU8), EstimateError);
  CHECK_THROWS_AS(estimate_weight_memory(-1, Dtype::kU8), EstimateError);
  CHECK_THROWS_AS(add_overhead(1, 0.5), EstimateError);
  try {
    estimate_tensor_bytes({kMax, 2}, Dtype::kU8);
  } catch (const EstimateError& error) {
    CHECK(error.fault() == EstimateFault::kOverflow);
    CHECK(std::string(error.what()) == "heapprof: the size does not fit in 64 bits");
  }
}

TEST_CASE("overhead is rounded up, and exact") {
  CHECK(add_overhead(0) == 0);
  CHECK(add_overhead(1) == 2);
  CHECK(add_overhead(10) == 11);  // 10 × 1.1 in binary numbers is above 11
  CHECK(add_overhead(1000) == 1100);
  CHECK(add_overhead(1001) == 1102);
  CHECK(add_overhead(kMax, 1) == kMax);
  CHECK(add_overhead(10000000000000000000u, 1.1) == 11000000000000000000u);
  CHECK(add_overhead(3, 1.333333) == 4);
  CHECK(add_overhead(3000000, 1.333333) == 3999999);
  CHECK(add_overhead(7, kMostOverhead) == 7000);
  CHECK(try_add_overhead(kMax).fault == EstimateFault::kOverflow);
  CHECK(try_add_overhead(kMax - 1, 1.000001).fault == EstimateFault::kOverflow);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad :
       {0.0, 0.999999, 0.99999999, std::nextafter(1.0, 0.0), -1.1, 1000.1, infinite, -infinite, std::nan("")})
    CHECK(try_add_overhead(1, bad).fault == EstimateFault::kBadOverhead);
}

TEST_CASE("overhead is what wide arithmetic says, for any bytes and factor") {
  std::mt19937_64 random(4711);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bytes = random() >> (random() % 64);
    const uint64_t millionths = 1000000 + random() % 2000000;
    const Wide want = (Wide{bytes} * millionths + 999999) / 1000000;
    const ByteEstimate got = try_add_overhead(bytes, static_cast<double>(millionths) / 1e6);
    REQUIRE(static_cast<bool>(got) == (want <= kMax));
    if (got) REQUIRE(got.bytes == static_cast<uint64_t>(want));
  }
}

TEST_CASE("estimates are what wide arithmetic says, for any dimensions") {
  std::mt19937_64 random(4712);
  for (int i = 0; i < 100000; ++i) {
    uint64_t v[4];
    for (uint64_t& x : v) x = random() >> (random() % 46 + 18);
    const Dtype dtype = kDtypes[random() % std::size(kDtypes)].id.dtype;
    const auto fits = [](Wide elements, unsigned bits) {
      return elements <= kMax && (elements * bits + 7) / 8 <= kMax;
    };
    // No factor has more than 46 bits: products of two are exact, and what is capped stays too large.
    const auto times = [](Wide a, uint64_t b) { return b == 0 ? 0 : a > Wide{kMax} ? a : a * b; };
    const auto all = [&](std::initializer_list<uint64_t> factors) {
      for (const uint64_t factor : factors)
        if (factor == 0) return Wide{0};
      Wide product = 1;
      for (const uint64_t factor : factors) product = times(product, factor);
      return product;
    };
    const Wide tensor = all({v[0], v[1], v[2], v[3]});
    const ByteEstimate got = try_estimate_tensor_bytes({v[0], v[1], v[2], v[3]}, dtype);
    REQUIRE(static_cast<bool>(got) == fits(tensor, dtype_bits(dtype)));
    if (got) REQUIRE(got.bytes == static_cast<uint64_t>((tensor * dtype_bits(dtype) + 7) / 8));
    const Wide each = all({v[0], v[1], v[2], v[3]});
    const Wide scores = all({v[0], v[1], v[2], v[2]});
    const bool is_sane = each <= kMax && scores <= kMax;
    const ByteEstimate attention = try_estimate_attention_memory({v[0], v[1], v[2], v[3]}, dtype);
    REQUIRE(static_cast<bool>(attention) == (is_sane && fits(each * 4 + scores, dtype_bits(dtype))));
    if (attention) REQUIRE(attention.bytes == static_cast<uint64_t>(((each * 4 + scores) * dtype_bits(dtype) + 7) / 8));
  }
}

TEST_CASE("numbers of parameters are read exactly, or not at all") {
  const std::vector<std::pair<const char*, uint64_t>> good = {{"7B", 7000000000},
                                                              {"7b", 7000000000},
                                                              {"13e9", 13000000000},
                                                              {"13E+9", 13000000000},
                                                              {"1.5M", 1500000},
                                                              {"125m", 125000000},
                                                              {"0.5B", 500000000},
                                                              {"1.10k", 1100},
                                                              {"2T", 2000000000000},
                                                              {"2G", 2000000000},
                                                              {"1.25e2", 125},
                                                              {"1.0", 1},
                                                              {"0", 0},
                                                              {"0e99", 0},
                                                              {"007", 7},
                                                              {"18446744073709551615", kMax},
                                                              {"18446744.073709551615T", kMax}};
  for (const auto& [text, want] : good) {
    INFO(text);
    CHECK(parse_parameters(text) == want);
  }
  for (const char* bad : {"",
                          "B",
                          "7Q",
                          "-7B",
                          "+7",
                          "7 B",
                          " 7",
                          "7BB",
                          "7.B",
                          ".5B",
                          "1.5",
                          "1.2345k",
                          "1e",
                          "1e+",
                          "1e-3",
                          "7e9B",
                          "1..5M",
                          "1,000",
                          "0x10",
                          "18446744073709551616",
                          "18446744073.709551616B",
                          "1e20",
                          "1e99999",
                          "99999999999999999999",
                          "7B "}) {
    INFO(bad);
    CHECK_FALSE(parse_parameters(bad));
  }
}

TEST_CASE("the largest batch fits, and one more does not") {
  std::mt19937_64 random(4713);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t available = random() >> (random() % 64);
    const uint64_t heads = random() % 64 + 1, sequence = random() % 9000 + 1, head_dim = random() % 256 + 1;
    const auto estimate_of = [&](uint64_t batch) {
      const ByteEstimate estimate = try_estimate_attention_memory({batch, heads, sequence, head_dim}, Dtype::kBf16);
      return estimate ? try_add_overhead(estimate.bytes, 1.1) : estimate;
    };
    const uint64_t largest = largest_that_fits(available, estimate_of);
    REQUIRE(estimate_of(largest));
    REQUIRE(estimate_of(largest).bytes <= available);
    const ByteEstimate more = estimate_of(largest + 1);
    REQUIRE((!more || more.bytes > available));
  }
  const auto nothing = [](uint64_t) { return ByteEstimate{}; };
  CHECK(largest_that_fits(0, nothing) == kMax);
  const auto bytes = [](uint64_t n) { return try_estimate_weight_memory(n, Dtype::kU8); };
  CHECK(largest_that_fits(0, bytes) == 0);
  CHECK(largest_that_fits(kMax, bytes) == kMax);
  CHECK(largest_that_fits(kMax - 1, bytes) == kMax - 1);
}

}  // namespace
}  // namespace heapprof
