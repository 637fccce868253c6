// tests/unit/public_headers/budget_test.cc: heapprof/budget.hpp: what fits, what is refused, and threads that race.
#include <catch2/catch.hpp>
#include <heapprof/budget.hpp>

#include <atomic>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace heapprof {
namespace {

constexpr uint64_t kMax = UINT64_MAX;

TEST_CASE("what exceeds the limit is refused, and nothing changes") {
  MemoryTracker tracker(1000);
  tracker.allocate(500);
  tracker.allocate(400);
  CHECK(tracker.allocated_bytes() == 900);
  CHECK_THROWS_AS(tracker.allocate(200), BudgetError);
  CHECK(tracker.allocated_bytes() == 900);
  CHECK(tracker.peak_bytes() == 900);
  tracker.allocate(100);
  CHECK(tracker.allocated_bytes() == 1000);
  CHECK_FALSE(tracker.try_allocate(1));
  CHECK(tracker.try_allocate(0));
}

TEST_CASE("500 of 1000 leave room for 500, and not for 501") {
  MemoryTracker tracker(1000);
  tracker.allocate(500);
  CHECK(tracker.would_fit(500));
  CHECK_FALSE(tracker.would_fit(501));
  CHECK(tracker.allocated_bytes() == 500);
}

TEST_CASE("a refusal says what was requested, what is allocated, and the limit") {
  MemoryTracker tracker(1000);
  tracker.allocate(900);
  const BudgetOutcome refused = tracker.try_allocate(200);
  CHECK(refused.fault == BudgetFault::kOverLimit);
  CHECK(refused.requested_bytes == 200);
  CHECK(refused.allocated_bytes == 900);
  CHECK(refused.limit_bytes == 1000);
  CHECK(refused.message() == "200 bytes do not fit: 900 bytes are allocated, and the limit is 1000");
  try {
    tracker.allocate(200);
    FAIL("nothing was thrown");
  } catch (const BudgetError& error) {
    CHECK(error.fault() == BudgetFault::kOverLimit);
    CHECK(error.requested_bytes() == 200);
    CHECK(error.allocated_bytes() == 900);
    CHECK(error.limit_bytes() == 1000);
    CHECK(std::string(error.what()) == "heapprof: " + refused.message());
  }
}

TEST_CASE("more given back than allocated is an error, and nothing changes") {
  MemoryTracker tracker(1000);
  CHECK(tracker.try_deallocate(1).fault == BudgetFault::kUnderflow);
  tracker.allocate(300);
  CHECK_THROWS_AS(tracker.deallocate(301), BudgetError);
  CHECK(tracker.allocated_bytes() == 300);
  const BudgetOutcome refused = tracker.try_deallocate(kMax);
  CHECK(refused.message() ==
        "18446744073709551615 bytes cannot be given back: 300 bytes are allocated, and the limit is 1000");
  tracker.deallocate(300);
  CHECK(tracker.allocated_bytes() == 0);
  tracker.deallocate(0);
}

TEST_CASE("without a limit everything fits that can be counted") {
  MemoryTracker tracker;
  CHECK(tracker.limit_bytes() == 0);
  tracker.allocate(kMax);
  CHECK(tracker.allocated_bytes() == kMax);
  CHECK_FALSE(tracker.would_fit(1));
  const BudgetOutcome refused = tracker.try_allocate(1);
  CHECK(refused.fault == BudgetFault::kOverflow);
  CHECK(refused.message() ==
        "1 bytes cannot be counted: 18446744073709551615 bytes are allocated, and there is no limit");
  CHECK(tracker.allocated_bytes() == kMax);
  tracker.deallocate(kMax);
  CHECK(tracker.allocated_bytes() == 0);
}

TEST_CASE("a request near 2^64 does not wrap around below the limit") {
  MemoryTracker tracker(1000);
  tracker.allocate(900);
  for (const uint64_t bytes : {kMax, kMax - 1, kMax - 899, kMax - 900, kMax - 901}) {
    CHECK(tracker.try_allocate(bytes).fault == BudgetFault::kOverLimit);
    CHECK_FALSE(tracker.would_fit(bytes));
  }
  CHECK(tracker.allocated_bytes() == 900);
  MemoryTracker widest(kMax);
  widest.allocate(kMax);
  CHECK(widest.try_allocate(1).fault == BudgetFault::kOverLimit);
}

TEST_CASE("the peak is the most that was allocated, until reset") {
  MemoryTracker tracker(1000, 1.5);
  tracker.allocate(700);
  tracker.deallocate(600);
  tracker.allocate(200);
  CHECK_FALSE(tracker.try_allocate(900));  // what was refused is in no peak
  CHECK(tracker.peak_bytes() == 700);
  tracker.reset();
  CHECK(tracker.allocated_bytes() == 0);
  CHECK(tracker.peak_bytes() == 0);
  CHECK(tracker.limit_bytes() == 1000);
  CHECK(tracker.estimate_with_overhead(10) == 15);
  CHECK_FALSE(tracker.try_deallocate(1));
  tracker.allocate(3);
  CHECK(tracker.peak_bytes() == 3);
}

TEST_CASE("overhead is estimated, and not counted") {
  MemoryTracker tracker(1000);
  CHECK(tracker.overhead_factor() == 1.1);
  CHECK(tracker.estimate_with_overhead(1000) == 1100);
  CHECK(tracker.allocated_bytes() == 0);
  tracker.allocate(1000);
  CHECK_THROWS_AS(tracker.estimate_with_overhead(kMax), EstimateError);
  CHECK(tracker.try_estimate_with_overhead(kMax).fault == EstimateFault::kOverflow);
  CHECK(MemoryTracker(0, 1).estimate_with_overhead(7) == 7);
  CHECK_THROWS_AS(MemoryTracker(0, 0.99), EstimateError);
  CHECK_THROWS_AS(MemoryTracker(0, std::numeric_limits<double>::quiet_NaN()), EstimateError);
  CHECK_THROWS_AS(MemoryTracker(0, 1001), EstimateError);
}

TEST_CASE("would_fit says what allocate does") {
  std::mt19937_64 random(4714);
  for (int round = 0; round < 200; ++round) {
    MemoryTracker tracker(random() % 4 == 0 ? 0 : random() >> (random() % 64));
    for (int i = 0; i < 500; ++i) {
      const uint64_t bytes = random() >> (random() % 64);
      const uint64_t before = tracker.allocated_bytes();
      const bool fits = tracker.would_fit(bytes);
      REQUIRE(static_cast<bool>(tracker.try_allocate(bytes)) == fits);
      REQUIRE(tracker.allocated_bytes() == (fits ? before + bytes : before));
      const uint64_t back = random() >> (random() % 64);
      const bool is_there = back <= tracker.allocated_bytes();
      REQUIRE(static_cast<bool>(tracker.try_deallocate(back)) == is_there);
    }
  }
}

// Each thread keeps books of what it was granted; a watcher looks at the tracker all the time.
TEST_CASE("64 threads never exceed the limit, and the sum is theirs") {
  constexpr uint64_t kLimit = 10007;
  constexpr int kThreads = 64;
  constexpr int kRounds = 3000;
  MemoryTracker tracker(kLimit);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> above{0};
  std::atomic<uint64_t> refused{0};
  std::vector<uint64_t> held(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<uint64_t>(t));
      uint64_t mine = 0;
      for (int i = 0; i < kRounds; ++i) {
        const uint64_t bytes = random() % 701;
        if (const BudgetOutcome outcome = tracker.try_allocate(bytes)) {
          mine += bytes;
        } else {
          refused.fetch_add(1, std::memory_order_relaxed);
          const bool is_true = outcome.allocated_bytes + bytes > kLimit && outcome.allocated_bytes <= kLimit;
          if (!is_true) above.fetch_add(1, std::memory_order_relaxed);
        }
        if (mine > 0 && random() % 2 == 0) {
          const uint64_t back = random() % (mine + 1);
          if (!tracker.try_deallocate(back)) above.fetch_add(1, std::memory_order_relaxed);
          mine -= back;
        }
      }
      held[static_cast<size_t>(t)] = mine;
    });
  }
  std::thread watcher([&] {
    while (!done.load(std::memory_order_acquire)) {
      if (tracker.allocated_bytes() > kLimit || tracker.peak_bytes() > kLimit) above.fetch_add(1);
    }
  });
  for (std::thread& thread : threads) thread.join();
  done.store(true, std::memory_order_release);
  watcher.join();
  uint64_t sum = 0;
  for (const uint64_t mine : held) sum += mine;
  CHECK(above == 0);
  CHECK(refused > 0);
  CHECK(tracker.allocated_bytes() == sum);
  CHECK(tracker.peak_bytes() <= kLimit);
  CHECK(tracker.peak_bytes() >= sum);
}

// All ask for the last of it: as many are granted as fit, on the byte.
TEST_CASE("threads that race for the rest get exactly the rest") {
  for (int round = 0; round < 20; ++round) {
    MemoryTracker tracker(1000);
    std::atomic<int> granted{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 64; ++t) {
      threads.emplace_back([&] {
        while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
        for (int i = 0; i < 4; ++i)
          if (tracker.try_allocate(7)) granted.fetch_add(1, std::memory_order_relaxed);
      });
    }
    go.store(true, std::memory_order_release);
    for (std::thread& thread : threads) thread.join();
    REQUIRE(granted == 142);
    REQUIRE(tracker.allocated_bytes() == 994);
    REQUIRE(tracker.peak_bytes() == 994);
  }
}

}  // namespace
}  // namespace heapprof
