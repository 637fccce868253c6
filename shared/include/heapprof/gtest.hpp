// heapprof/gtest.hpp: GoogleTest tests with memory limits: a test that exceeds a limit fails.
//
// Include it in one source file of the test program or in all; there is nothing to call. A test sets its own limits:
//
//   TEST(Page, IsRenderedInPlace) {
//     RecordProperty("heapprof:peak", "64MiB");   // of the whole test, SetUp and TearDown included
//     RecordProperty("heapprof:leaked", "0");
//
// Properties are heapprof:NAME, NAME as in heapprof/test_limits.hpp, which also has defaults for all tests. They limit
// the host, and devices that have a default: a test's properties are known only at its end, and other devices were not
// measured from its begin. The macros of heapprof/limits.hpp fail the test that contains them, which goes on. Every
// test is a scope of the category "test".
//
// What GoogleTest itself allocates for an empty test is subtracted, and so is what its record of the properties keeps.
// Whatever else it allocates within the test counts, including up to ten small blocks for each RecordProperty().
//
// Cost: two queries for every test, because its properties are known only at its end: under heapprof run 2,000 empty
// tests took 1.2 s instead of 0.06 s (g++ 12, two busy cores).
#ifndef HEAPPROF_GTEST_HPP
#define HEAPPROF_GTEST_HPP

#include "heapprof/heapprof.hpp"
#include "heapprof/test_limits.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapprof {
namespace gtest {

inline void fail_here(const LimitFailure& failure) { ADD_FAILURE_AT(failure.file, failure.line) << failure.message(); }

class EmptyTest : public ::testing::Test {
  void TestBody() override {}
};

class Listener : public ::testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const ::testing::UnitTest&) override { set_limit_handler(fail_here); }
  void OnTestProgramEnd(const ::testing::UnitTest&) override { set_limit_handler(nullptr); }

  void OnTestStart(const ::testing::TestInfo& test) override {
    if (!own_) own_ = use_of_empty_test();
    limits_.emplace(test.file() != nullptr ? test.file() : "", test.line());
    limits_->watch("host");
    heapprof_name& name = intern("test", std::string(test.test_suite_name()) + "." + test.name());
    scope_.emplace(name);
    limits_->begin();
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!limits_) return;
    limits_->stop();
    scope_.reset();
    const ::testing::TestResult& result = *test.result();
    Usage own = *own_;
    add_properties(result, &own);
    for (int i = 0; i < result.test_property_count(); ++i) {
      constexpr std::string_view kOurs = "heapprof:";
      const std::string_view key = result.GetTestProperty(i).key();
      if (key.substr(0, kOurs.size()) != kOurs) continue;
      limits_->add(parse_limit(key.substr(kOurs.size()), result.GetTestProperty(i).value()));
    }
    limits_->end(own);
    limits_.reset();
  }

 private:
  // What an empty test object takes on the heap, including the flags that GoogleTest saves with it.
  static Usage use_of_empty_test() {
    Usage use;
    const auto before = thread_stats();
    delete new EmptyTest;
    const auto after = thread_stats();
    if (!before || !after) return use;
    use.total_bytes = after->total_bytes - before->total_bytes;
    use.total_blocks = after->total_blocks - before->total_blocks;
    use.peak_bytes = use.total_bytes;
    return use;
  }

  // What the vector of a test's properties keeps on the heap; its room grows by doubling.
  static void add_properties(const ::testing::TestResult& result, Usage* own) {
    const std::size_t count = static_cast<std::size_t>(result.test_property_count());
    if (count == 0) return;
    std::size_t room = 1;
    while (room < count) room *= 2;
    std::size_t bytes = room * sizeof(::testing::TestProperty);
    std::int64_t blocks = 1;
    const std::size_t inside = std::string().capacity();
    for (int i = 0; i < result.test_property_count(); ++i) {
      for (const char* text : {result.GetTestProperty(i).key(), result.GetTestProperty(i).value()}) {
        const std::size_t length = std::string_view(text).size();
        if (length <= inside) continue;
        bytes += length + 1;
        ++blocks;
      }
    }
    own->live_bytes += static_cast<std::int64_t>(bytes);
    own->live_blocks += blocks;
  }

  std::optional<Usage> own_;
  std::optional<TestLimits> limits_;
  std::optional<scope> scope_;
};

// GoogleTest owns its listeners.
inline bool add_listener() {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}
inline const bool g_has_listener = add_listener();

}  // namespace gtest
}  // namespace heapprof

#endif  // HEAPPROF_GTEST_HPP
