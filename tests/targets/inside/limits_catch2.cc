// tests/targets/inside/limits_catch2.cc: Catch2 tests with limits. Those whose name begins with "over" break one.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <heapprof/catch2.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void* volatile g_block = nullptr;

void take(size_t bytes) {
  g_block = std::malloc(bytes);
  std::free(g_block);
}

TEST_CASE("within all limits, to the byte",
          "[heapprof:peak=5000][heapprof:bytes=host=9000][heapprof:allocations=2][heapprof:leaked=0]") {
  REQUIRE(1 + 1 == 2);
  take(5000);
  take(4000);
  CHECK(g_block != nullptr);
}
TEST_CASE("within none", "[heapprof:allocations=0]") { CHECK(1 + 1 == 2); }
TEST_CASE("within a name that is much longer than what a string keeps in itself",
          "[heapprof:leaked=0][heapprof:peak=0]") {}

TEST_CASE("over peak", "[heapprof:peak=4999]") { take(5000); }
TEST_CASE("over bytes", "[heapprof:bytes=8 KiB]") {
  take(5000);
  take(4000);
}
TEST_CASE("over allocations", "[heapprof:allocations=1]") {
  take(1);
  take(1);
}
TEST_CASE("over leaked", "[heapprof:leaked=0]") { g_block = std::malloc(1235); }
TEST_CASE("over two", "[heapprof:leaked=0][heapprof:peak=1kB]") { g_block = std::malloc(1236); }
TEST_CASE("over no allocations") {
  HEAPPROF_REQUIRE_NO_ALLOCATIONS();
  take(7);
}
TEST_CASE("over the peak of a block") {
  HEAPPROF_REQUIRE_MAX_PEAK("1 MiB");
  {
    HEAPPROF_REQUIRE_MAX_PEAK("1000");
    take(1001);
  }
  CHECK(true);
}
TEST_CASE("over in another thread", "[heapprof:peak=1MiB]") {
  std::thread([] {
    HEAPPROF_REQUIRE_MAX_PEAK(10);
    take(4713);
  }).join();
}
TEST_CASE("over in one section of two", "[heapprof:peak=20kB][heapprof:leaked=4KiB]") {
  SECTION("small") { take(100); }
  SECTION("large") { take(30'000); }
}
TEST_CASE("over what no size is", "[heapprof:peak=64M]") {}
TEST_CASE("over what no limit is", "[heapprof:peek=64MiB]") {}

TEST_CASE("fails by itself", "[heapprof:peak=10]") {
  take(11);
  FAIL("by itself");
}
TEST_CASE("fails by an exception", "[heapprof:peak=10]") {
  take(11);
  throw std::runtime_error("thrown");
}

class Fixture {
 protected:
  std::vector<char> room_ = std::vector<char>(100);
};
TEST_CASE_METHOD(Fixture, "within a fixture", "[heapprof:leaked=0][heapprof:allocations=1]") {
  CHECK(room_.size() == 100);
}

TEST_CASE("within limits that threads have at once", "[heapprof:peak=1MiB]") {
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

}  // namespace
