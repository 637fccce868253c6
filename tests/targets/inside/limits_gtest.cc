// tests/targets/inside/limits_gtest.cc: GoogleTest tests with limits. Those of the suite Over break one.
#if __has_include(<gtest/gtest.h>)
#include <gtest/gtest.h>
#include <heapprof/gtest.hpp>

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void* volatile g_block = nullptr;

void take(size_t bytes) {
  g_block = std::malloc(bytes);
  std::free(g_block);
}

TEST(Within, Nothing) { HEAPPROF_REQUIRE_NO_ALLOCATIONS(); }
TEST(Within, PeakAndLeaked) {
  RecordProperty("heapprof:peak", "6kB");
  RecordProperty("heapprof:leaked", "0");
  RecordProperty("a property that has nothing to do with it",
                 "and has a long value, longer than a string keeps in itself");
  take(5000);
  EXPECT_NE(g_block, nullptr);
}
TEST(Within, BlocksOfATest) {
  HEAPPROF_REQUIRE_MAX_ALLOCATIONS(2);
  HEAPPROF_REQUIRE_MAX_BYTES(9000);
  take(5000);
  take(4000);
  EXPECT_TRUE(g_block != nullptr);
}
TEST(Within, ThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i <= 4; ++i) {
    threads.emplace_back([i] {
      HEAPPROF_REQUIRE_MAX_PEAK(10'000);
      for (int k = 0; k < 20; ++k) {
        HEAPPROF_REQUIRE(use.total_bytes >= 1000 * i);
        take(1000 * i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Over, Peak) {
  RecordProperty("heapprof:peak", "4kB");
  take(5000);
}
TEST(Over, Bytes) {
  RecordProperty("heapprof:bytes", "8 KiB");
  take(5000);
  take(4000);
}
TEST(Over, Allocations) {
  RecordProperty("heapprof:allocations", "100");
  for (int i = 0; i < 101; ++i) take(1);
}
TEST(Over, Leaked) {
  RecordProperty("heapprof:leaked", "0");
  g_block = std::malloc(1235);
}
TEST(Over, NoAllocations) {
  HEAPPROF_REQUIRE_NO_ALLOCATIONS();
  take(7);
}
TEST(Over, Nested) {
  HEAPPROF_REQUIRE_MAX_PEAK("1 MiB");
  {
    HEAPPROF_REQUIRE_MAX_PEAK("1000");
    take(1001);
  }
}
TEST(Over, InAThread) {
  std::thread([] {
    HEAPPROF_REQUIRE_MAX_PEAK(10);
    take(4713);
  }).join();
}
TEST(Over, BadSize) { RecordProperty("heapprof:peak", "64M"); }
TEST(Over, OtherDevice) { RecordProperty("heapprof:peak", "cuda:0=1MiB"); }

class Room : public ::testing::Test {
 protected:
  void SetUp() override { room_.resize(3000); }
  std::vector<char> room_;
};
TEST_F(Room, CountsWithin) {
  RecordProperty("heapprof:leaked", "0");
  RecordProperty("heapprof:peak", "4kB");
}
TEST_F(Room, OverPeak) { RecordProperty("heapprof:peak", "2999"); }

// Under --gtest_filter, with defaults from the environment: nothing of GoogleTest's own is in the numbers.
TEST(Default, Nothing) {}
TEST(Default, TakesOne) { take(1000); }

}  // namespace
#else
int main() { return 77; }
#endif
