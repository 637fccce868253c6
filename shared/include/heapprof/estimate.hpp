// heapprof/estimate.hpp: how many bytes tensors, attention, key-value caches and weights take, before they are
// allocated.
//
// Header only, C++17, works without heapprof: nothing to link, and no agent is involved.
//
//   const std::uint64_t bytes = heapprof::estimate_tensor_bytes({batch, 4096}, heapprof::Dtype::kBf16);
//
// Guarantees
//  - Every result is exact: checked 64-bit arithmetic, no floating point. A size that does not fit in 64 bits is an
//    error, never a number, and so is a negative dimension. If a dimension is 0, the size is 0 bytes, whatever the
//    others are. (tests/unit/public_headers/estimate_test.cc attacks all of that;
//    tests/integration/cuda/estimate_oracle.sh compares the sizes with what a program allocates.)
//  - Each estimate has two forms: try_… is constexpr, never throws and returns a ByteEstimate; the other returns the
//    bytes and throws EstimateError. Without exceptions (-fno-exceptions) there is only try_….
// Not provided: what an allocator adds to a block, and what a library takes in addition to the tensors; add_overhead()
// allows for it.
#ifndef HEAPPROF_ESTIMATE_HPP
#define HEAPPROF_ESTIMATE_HPP

#include "heapprof/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace heapprof {

namespace detail {

// The following return false if the result does not fit; *result is then unchanged.
constexpr bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t* result) {
  if (b != 0 && a > UINT64_MAX / b) return false;
  *result = a * b;
  return true;
}
constexpr bool add(std::uint64_t a, std::uint64_t b, std::uint64_t* result) {
  if (a > UINT64_MAX - b) return false;
  *result = a + b;
  return true;
}

}  // namespace detail

// ---- what an estimate is ----

enum class EstimateFault : std::uint8_t {
  kNone,
  kOverflow,     // more than 2^64 - 1 elements or bytes
  kNegative,     // a dimension or a count is below 0
  kBadPage,      // a page of no tokens
  kBadOverhead,  // an overhead factor below 1, above kMostOverhead, or NaN
};

constexpr const char* describe(EstimateFault fault) {
  switch (fault) {
    case EstimateFault::kNone: return "no fault";
    case EstimateFault::kOverflow: return "the size does not fit in 64 bits";
    case EstimateFault::kNegative: return "a dimension is negative";
    case EstimateFault::kBadPage: return "a page has no tokens";
    case EstimateFault::kBadOverhead: return "the overhead factor is not a number from 1 to 1000";
  }
  return "unknown fault";
}

struct ByteEstimate {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  EstimateFault fault = EstimateFault::kNone;  // if not kNone, both numbers are 0

  constexpr explicit operator bool() const { return fault == EstimateFault::kNone; }
};

class EstimateError : public std::runtime_error {
 public:
  explicit EstimateError(EstimateFault fault)
      : std::runtime_error(std::string("heapprof: ") + describe(fault)), fault_(fault) {}
  EstimateFault fault() const noexcept { return fault_; }

 private:
  EstimateFault fault_;
};

// A dimension or a count, of any integer type: a negative one is detected, not converted to a large one.
class Dimension {
 public:
  template <typename Integer,
            typename = std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>>>
  constexpr Dimension(Integer value)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<std::uint64_t>(value)), is_negative_(is_below_zero(value)) {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr bool is_negative() const { return is_negative_; }

 private:
  template <typename Integer>
  static constexpr bool is_below_zero(Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      return value < 0;
    } else {
      return static_cast<void>(value), false;
    }
  }
  std::uint64_t value_;
  bool is_negative_;
};

namespace detail {

constexpr ByteEstimate bytes_of(std::uint64_t elements, Dtype dtype) {
  const unsigned bits = dtype_bits(dtype);
  if (bits == 4) return {elements, elements / 2 + elements % 2, EstimateFault::kNone};
  std::uint64_t bytes = 0;
  if (!multiply(elements, bits / 8, &bytes)) return {0, 0, EstimateFault::kOverflow};
  return {elements, bytes, EstimateFault::kNone};
}

// The product of [first, last). It starts at 0 if a factor is 0, so that no intermediate product can overflow.
template <typename Iterator>
constexpr EstimateFault multiply_all(Iterator first, Iterator last, std::uint64_t* product) {
  bool is_empty = false;
  for (Iterator at = first; at != last; ++at) {
    const Dimension factor = *at;
    if (factor.is_negative()) return EstimateFault::kNegative;
    is_empty = is_empty || factor.value() == 0;
  }
  *product = is_empty ? 0 : 1;
  for (Iterator at = first; at != last; ++at) {
    const Dimension factor = *at;
    if (!multiply(*product, factor.value(), product)) return EstimateFault::kOverflow;
  }
  return EstimateFault::kNone;
}

template <typename Iterator>
constexpr ByteEstimate tensor_bytes(Iterator first, Iterator last, Dtype dtype) {
  std::uint64_t elements = 0;
  const EstimateFault fault = multiply_all(first, last, &elements);
  return fault == EstimateFault::kNone ? bytes_of(elements, dtype) : ByteEstimate{0, 0, fault};
}

}  // namespace detail

// ---- tensors ----

// {10, 100}; {} is a scalar, of one element.
constexpr ByteEstimate try_estimate_tensor_bytes(std::initializer_list<Dimension> shape, Dtype dtype) {
  return detail::tensor_bytes(shape.begin(), shape.end(), dtype);
}
// The shape as any container of integers: std::vector<std::int64_t>, std::array<int, 4> …
template <typename Shape>
constexpr ByteEstimate try_estimate_tensor_bytes(const Shape& shape, Dtype dtype) {
  return detail::tensor_bytes(std::begin(shape), std::end(shape), dtype);
}

// ---- attention ----

struct AttentionShape {
  Dimension batch;
  Dimension heads;
  Dimension sequence;  // tokens
  Dimension head_dim;
};

// Query, key and value, the scores, and the output, all of them kept at once:
// 3·B·H·S·D + B·H·S² + B·H·S·D elements. Attention that never writes the scores (flash attention) takes less.
constexpr ByteEstimate try_estimate_attention_memory(const AttentionShape& shape, Dtype dtype) {
  const Dimension projection[] = {shape.batch, shape.heads, shape.sequence, shape.head_dim};
  const Dimension scores[] = {shape.batch, shape.heads, shape.sequence, shape.sequence};
  std::uint64_t each = 0;
  std::uint64_t elements = 0;
  EstimateFault fault = detail::multiply_all(projection, projection + 4, &each);
  if (fault == EstimateFault::kNone) fault = detail::multiply_all(scores, scores + 4, &elements);
  if (fault != EstimateFault::kNone) return {0, 0, fault};
  std::uint64_t four = 0;
  if (!detail::multiply(each, 4, &four) || !detail::add(elements, four, &elements))
    return {0, 0, EstimateFault::kOverflow};
  return detail::bytes_of(elements, dtype);
}

// ---- key-value caches ----

struct KvCacheShape {
  Dimension layers;
  Dimension kv_heads;  // with grouped-query attention: heads of keys and values, fewer than those of queries
  Dimension head_dim;
  Dimension tokens;           // of each sequence
  Dimension batch = 1;        // sequences
  Dimension page_tokens = 1;  // a sequence takes whole pages of this many tokens
};

// 2 (keys and values) × layers × heads × head_dim × batch × tokens, with tokens rounded up to whole pages.
constexpr ByteEstimate try_estimate_kv_cache_memory(const KvCacheShape& shape, Dtype dtype) {
  if (shape.tokens.is_negative() || shape.page_tokens.is_negative()) return {0, 0, EstimateFault::kNegative};
  const std::uint64_t page = shape.page_tokens.value();
  if (page == 0) return {0, 0, EstimateFault::kBadPage};
  const std::uint64_t pages = shape.tokens.value() / page + (shape.tokens.value() % page == 0 ? 0 : 1);
  const Dimension factors[] = {2, shape.layers, shape.kv_heads, shape.head_dim, shape.batch, pages, page};
  return detail::tensor_bytes(factors, factors + 7, dtype);
}

// ---- weights ----

constexpr ByteEstimate try_estimate_weight_memory(Dimension parameters, Dtype dtype) {
  return detail::tensor_bytes(&parameters, &parameters + 1, dtype);
}

// "7B", "1.5M", "125m", "13e9", "7000000000": digits, a point, and K, M, B (or G), T for 10^3 to 10^12, or a power of
// ten. nullopt if that is not a whole number, or does not fit in 64 bits.
constexpr std::optional<std::uint64_t> parse_parameters(std::string_view text) {
  std::uint64_t digits = 0;
  std::size_t decimals = 0;
  std::size_t at = 0;
  bool has_point = false;
  bool has_digit = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !has_point && has_digit) {
      has_point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') break;
    has_digit = true;
    decimals += has_point ? 1 : 0;
    if (!detail::multiply(digits, 10, &digits) ||
        !detail::add(digits, static_cast<std::uint64_t>(text[at] - '0'), &digits))
      return std::nullopt;
  }
  if (!has_digit || text[at - 1] == '.') return std::nullopt;
  std::size_t power = 0;
  if (at < text.size()) {
    const char sign = detail::lower(text[at++]);
    power = sign == 'k' ? 3 : sign == 'm' ? 6 : sign == 'b' || sign == 'g' ? 9 : sign == 't' ? 12 : 0;
    if (sign == 'e') {
      if (at < text.size() && text[at] == '+') ++at;
      if (at == text.size()) return std::nullopt;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && power < 100; ++at)
        power = power * 10 + static_cast<std::size_t>(text[at] - '0');
    } else if (power == 0) {
      return std::nullopt;
    }
  }
  if (at != text.size()) return std::nullopt;
  for (; decimals > power; --decimals) {
    if (digits % 10 != 0) return std::nullopt;
    digits /= 10;
  }
  for (; power > decimals && digits != 0; --power) {
    if (!detail::multiply(digits, 10, &digits)) return std::nullopt;
  }
  return digits;
}

// ---- what comes on top, and what fits ----

inline constexpr double kDefaultOverhead = 1.1;
inline constexpr double kMostOverhead = 1000;

namespace detail {

inline constexpr std::uint64_t kMillion = 1000000;

constexpr bool is_overhead(double factor) { return factor >= 1 && factor <= kMostOverhead; }  // a NaN is not
constexpr std::uint64_t in_millionths(double factor) { return static_cast<std::uint64_t>(factor * 1e6 + 0.5); }

}  // namespace detail

// The bytes times the factor, rounded up. The factor is rounded to millionths, so that 1.1 is exactly 11/10 and not a
// binary number near it.
constexpr ByteEstimate try_add_overhead(std::uint64_t bytes, double factor = kDefaultOverhead) {
  if (!detail::is_overhead(factor)) return {0, 0, EstimateFault::kBadOverhead};
  const std::uint64_t millionths = detail::in_millionths(factor);
  const std::uint64_t rest = (bytes % detail::kMillion * millionths + detail::kMillion - 1) / detail::kMillion;
  std::uint64_t result = 0;
  if (!detail::multiply(bytes / detail::kMillion, millionths, &result) || !detail::add(result, rest, &result))
    return {0, 0, EstimateFault::kOverflow};
  return {0, result, EstimateFault::kNone};
}

// The largest n for which estimate_of(n), a ByteEstimate that grows with n, takes no more than `available_bytes`.
// UINT64_MAX: every n fits. pre: estimate_of(0) fits
template <typename EstimateOf>
constexpr std::uint64_t largest_that_fits(std::uint64_t available_bytes, const EstimateOf& estimate_of) {
  const auto fits = [&](std::uint64_t n) {
    const ByteEstimate estimate = estimate_of(n);
    return estimate && estimate.bytes <= available_bytes;
  };
  if (fits(UINT64_MAX)) return UINT64_MAX;
  std::uint64_t least = 0;          // fits
  std::uint64_t most = UINT64_MAX;  // does not
  while (most - least > 1) {
    const std::uint64_t middle = least + (most - least) / 2;
    (fits(middle) ? least : most) = middle;
  }
  return least;
}

// ---- the same with exceptions ----

#ifdef __cpp_exceptions

namespace detail {

constexpr std::uint64_t bytes_or_throw(const ByteEstimate& estimate) {
  return estimate ? estimate.bytes : throw EstimateError(estimate.fault);
}

}  // namespace detail

constexpr std::uint64_t estimate_tensor_bytes(std::initializer_list<Dimension> shape, Dtype dtype) {
  return detail::bytes_or_throw(try_estimate_tensor_bytes(shape, dtype));
}
template <typename Shape>
constexpr std::uint64_t estimate_tensor_bytes(const Shape& shape, Dtype dtype) {
  return detail::bytes_or_throw(try_estimate_tensor_bytes(shape, dtype));
}
constexpr std::uint64_t estimate_attention_memory(const AttentionShape& shape, Dtype dtype) {
  return detail::bytes_or_throw(try_estimate_attention_memory(shape, dtype));
}
constexpr std::uint64_t estimate_attention_memory(Dimension batch, Dimension heads, Dimension sequence,
                                                  Dimension head_dim, Dtype dtype) {
  return estimate_attention_memory({batch, heads, sequence, head_dim}, dtype);
}
constexpr std::uint64_t estimate_kv_cache_memory(const KvCacheShape& shape, Dtype dtype) {
  return detail::bytes_or_throw(try_estimate_kv_cache_memory(shape, dtype));
}
constexpr std::uint64_t estimate_weight_memory(Dimension parameters, Dtype dtype) {
  return detail::bytes_or_throw(try_estimate_weight_memory(parameters, dtype));
}
constexpr std::uint64_t add_overhead(std::uint64_t bytes, double factor = kDefaultOverhead) {
  return detail::bytes_or_throw(try_add_overhead(bytes, factor));
}

#endif  // __cpp_exceptions

}  // namespace heapprof

#endif  // HEAPPROF_ESTIMATE_HPP
