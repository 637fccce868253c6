// heapprof/budget.hpp: MemoryTracker, a budget to check before memory is allocated; includes heapprof/estimate.hpp.
//
// Header only, C++17, works without heapprof: nothing to link, and no agent is involved. It allocates no memory itself;
// it counts the bytes that its caller names.
//
//   heapprof::MemoryTracker gpu(24ull << 30);
//   const auto bytes = heapprof::estimate_tensor_bytes({batch, 4096}, heapprof::Dtype::kF16);
//   gpu.allocate(bytes);                                            // throws BudgetError if it does not fit
//   if (const auto outcome = gpu.try_allocate(bytes); !outcome) …   // or returns the refusal, and changes nothing
//
// Guarantees
//  - Check and addition are one atomic step: allocated_bytes() is never above the limit, whatever other threads do, and
//    a refused call leaves it as it was (tests/unit/public_headers/budget_test.cc, with 64 threads).
//  - would_fit(n) is what try_allocate(n) would return at that moment: both call one function.
//  - A refusal says what was requested, what was allocated at that moment, and the limit: BudgetOutcome, BudgetError.
//  - peak_bytes() is the largest value of allocated_bytes(), as soon as the calls that caused it have returned.
// Not provided: order. The tracker does not say when other threads' memory may be used (relaxed atomics).
//
// Context:  any thread; lock-free where 64-bit atomics are, so try_… may be called in signal handlers, too.
// Cost:     one compare-exchange, and a second one where the peak rises. A thread that loses the race tries again.
//
// Without exceptions (-fno-exceptions) there are no allocate(), deallocate() and estimate_with_overhead(): try_… return
// the same as their result. A constructor with a bad overhead factor then ends the program (std::abort).
#ifndef HEAPPROF_BUDGET_HPP
#define HEAPPROF_BUDGET_HPP

#include "heapprof/estimate.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace heapprof {

enum class BudgetFault : std::uint8_t {
  kNone,
  kOverLimit,  // requested + allocated > limit
  kOverflow,   // requested + allocated does not fit in 64 bits; only without a limit
  kUnderflow,  // more was given back than was allocated
};

// The outcome of a call, and the numbers that decided it.
struct BudgetOutcome {
  BudgetFault fault = BudgetFault::kNone;
  std::uint64_t requested_bytes = 0;  // bytes to allocate, or to give back
  std::uint64_t allocated_bytes = 0;  // when it was decided, without `requested_bytes`
  std::uint64_t limit_bytes = 0;      // 0: unlimited

  constexpr explicit operator bool() const { return fault == BudgetFault::kNone; }

  std::string message() const {
    const std::string requested = std::to_string(requested_bytes);
    const std::string allocated = std::to_string(allocated_bytes) + " bytes are allocated";
    const std::string limit = limit_bytes == 0 ? "there is no limit" : "the limit is " + std::to_string(limit_bytes);
    switch (fault) {
      case BudgetFault::kNone: return requested + " bytes, as asked; before, " + allocated + ", and " + limit;
      case BudgetFault::kOverLimit: return requested + " bytes do not fit: " + allocated + ", and " + limit;
      case BudgetFault::kOverflow: return requested + " bytes cannot be counted: " + allocated + ", and " + limit;
      case BudgetFault::kUnderflow: return requested + " bytes cannot be given back: " + allocated + ", and " + limit;
    }
    return "unknown fault";
  }
};

class BudgetError : public std::runtime_error {
 public:
  explicit BudgetError(const BudgetOutcome& outcome)
      : std::runtime_error("heapprof: " + outcome.message()), outcome_(outcome) {}
  const BudgetOutcome& outcome() const noexcept { return outcome_; }
  BudgetFault fault() const noexcept { return outcome_.fault; }
  std::uint64_t requested_bytes() const noexcept { return outcome_.requested_bytes; }
  std::uint64_t allocated_bytes() const noexcept { return outcome_.allocated_bytes; }
  std::uint64_t limit_bytes() const noexcept { return outcome_.limit_bytes; }

 private:
  BudgetOutcome outcome_;
};

class MemoryTracker {
 public:
  // limit_bytes: 0 is unlimited. overhead_factor: from 1 to kMostOverhead, else EstimateError.
  explicit MemoryTracker(std::uint64_t limit_bytes = 0, double overhead_factor = kDefaultOverhead)
      : limit_(limit_bytes), overhead_(overhead_factor) {
    if (detail::is_overhead(overhead_factor)) return;
#ifdef __cpp_exceptions
    throw EstimateError(EstimateFault::kBadOverhead);
#else
    std::abort();
#endif
  }
  MemoryTracker(const MemoryTracker&) = delete;
  MemoryTracker& operator=(const MemoryTracker&) = delete;

  // Counts the bytes, or leaves everything as it was and says why.
  [[nodiscard]] BudgetOutcome try_allocate(std::uint64_t bytes) noexcept {
    std::uint64_t allocated = allocated_.load(std::memory_order_relaxed);
    for (;;) {
      const BudgetOutcome outcome = judge(bytes, allocated);
      if (!outcome) return outcome;
      // (A) makes the check and the addition one step: if another thread was in between, it fails, and both are done
      // again.
      if (!allocated_.compare_exchange_weak(allocated, allocated + bytes, std::memory_order_relaxed)) continue;
      raise_peak(allocated + bytes);
      return outcome;
    }
  }

  // Subtracts the bytes; more than are allocated is an error, and changes nothing.
  [[nodiscard]] BudgetOutcome try_deallocate(std::uint64_t bytes) noexcept {
    std::uint64_t allocated = allocated_.load(std::memory_order_relaxed);
    do {
      if (bytes > allocated) return {BudgetFault::kUnderflow, bytes, allocated, limit_};
    } while (!allocated_.compare_exchange_weak(allocated, allocated - bytes, std::memory_order_relaxed));  // as (A)
    return {BudgetFault::kNone, bytes, allocated, limit_};
  }

  // What try_allocate would return now. Another thread may be faster than the caller: only try_allocate reserves.
  bool would_fit(std::uint64_t bytes) const noexcept { return static_cast<bool>(judge(bytes, allocated_bytes())); }

  // The bytes times the overhead factor, rounded up (try_add_overhead). Nothing is counted.
  [[nodiscard]] ByteEstimate try_estimate_with_overhead(std::uint64_t bytes) const noexcept {
    return try_add_overhead(bytes, overhead_);
  }

#ifdef __cpp_exceptions
  // As the functions above, but they throw the fault: BudgetError, and the last one EstimateError.
  void allocate(std::uint64_t bytes) {
    if (const BudgetOutcome outcome = try_allocate(bytes); !outcome) throw BudgetError(outcome);
  }
  void deallocate(std::uint64_t bytes) {
    if (const BudgetOutcome outcome = try_deallocate(bytes); !outcome) throw BudgetError(outcome);
  }
  std::uint64_t estimate_with_overhead(std::uint64_t bytes) const { return add_overhead(bytes, overhead_); }
#endif

  std::uint64_t allocated_bytes() const noexcept { return allocated_.load(std::memory_order_relaxed); }
  std::uint64_t peak_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }
  std::uint64_t limit_bytes() const noexcept { return limit_; }
  double overhead_factor() const noexcept { return overhead_; }

  // Sets allocated_bytes() and peak_bytes() to 0. Limit and factor stay. pre: no other call is in progress
  void reset() noexcept {
    allocated_.store(0, std::memory_order_relaxed);
    peak_.store(0, std::memory_order_relaxed);
  }

 private:
  BudgetOutcome judge(std::uint64_t bytes, std::uint64_t allocated) const noexcept {
    if (limit_ != 0 && (allocated > limit_ || bytes > limit_ - allocated))
      return {BudgetFault::kOverLimit, bytes, allocated, limit_};
    if (bytes > UINT64_MAX - allocated) return {BudgetFault::kOverflow, bytes, allocated, limit_};
    return {BudgetFault::kNone, bytes, allocated, limit_};
  }

  void raise_peak(std::uint64_t allocated) noexcept {
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < allocated && !peak_.compare_exchange_weak(peak, allocated, std::memory_order_relaxed)) {
    }
  }

  const std::uint64_t limit_;
  const double overhead_;
  std::atomic<std::uint64_t> allocated_{0};
  std::atomic<std::uint64_t> peak_{0};
};

}  // namespace heapprof

#endif  // HEAPPROF_BUDGET_HPP
