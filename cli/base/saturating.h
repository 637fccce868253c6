// cli/base/saturating.h: sums, products and differences of counts that stop at a bound instead of wrapping.
//
// Trust:    counts come from untrusted profiles, and from programs that ran for days.
#pragma once

#include <cstdint>

namespace heapprof::cli {

constexpr uint64_t add_saturating(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
constexpr void add_to(uint64_t* sum, uint64_t value) { *sum = add_saturating(*sum, value); }

constexpr uint64_t multiply_saturating(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// `all` less `part`; 0 if `part` is larger.
constexpr uint64_t rest_of(uint64_t all, uint64_t part) { return all > part ? all - part : 0; }

constexpr uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace heapprof::cli
