// heapprof/catch2.hpp: Catch2 tests with memory limits: a test that exceeds a limit fails.
//
// Include it in one source file of the test program, after Catch2's own header. Works with Catch2 3, and with 2.13 if
// the file first defines CATCH_CONFIG_MAIN, CATCH_CONFIG_RUNNER or CATCH_CONFIG_EXTERNAL_INTERFACES. Then a tag sets a
// limit for each run of the test's body:
//
//   TEST_CASE("a page is rendered in place", "[heapprof:peak=64MiB][heapprof:leaked=0]") { … }
//
// Tags are heapprof:NAME=[DEVICE=]VALUE, NAME as in heapprof/test_limits.hpp, which also has defaults for all tests.
// The macros of heapprof/limits.hpp fail the test that contains them, and the test goes on. Every test is a scope of
// the category "test".
//
// A test case with sections runs several times: its limits hold for each run separately. What Catch2 allocates in the
// body counts, because it cannot be distinguished: 300 to 400 bytes for each SECTION, from the first time that it is
// entered until the test case has ended; what INFO and a failed check allocate; and what every check allocates, if the
// reporter keeps or writes all checks (junit, sonarqube, --success). Otherwise a check that passes allocates nothing.
// For exact numbers with all reporters, put a macro's limit into a block of its own without checks.
#ifndef HEAPPROF_CATCH2_HPP
#define HEAPPROF_CATCH2_HPP

#include "heapprof/heapprof.hpp"
#include "heapprof/test_limits.hpp"

#if !defined(CATCH_VERSION_MAJOR)
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#endif
#elif CATCH_VERSION_MAJOR >= 3
#if !defined(CATCH_AMALGAMATED_HPP_INCLUDED)
#include <catch2/catch_all.hpp>
#endif
#elif !defined(CATCH_CONFIG_EXTERNAL_INTERFACES)
#error "define CATCH_CONFIG_EXTERNAL_INTERFACES before <catch2/catch.hpp>, or include heapprof/catch2.hpp before it"
#endif

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapprof {
namespace catch2 {

#if CATCH_VERSION_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
using TestHandle = Catch::TestCaseHandle;
inline std::string_view text_of(const Catch::Tag& tag) { return {tag.original.data(), tag.original.size()}; }
#else
using ListenerBase = Catch::TestEventListenerBase;
using TestHandle = Catch::TestCase;
inline std::string_view text_of(const std::string& tag) { return tag; }
#endif

// Failures in other threads than the test's: Catch2 accepts failures only from the test's thread, so these wait for the
// end of the body.
struct Running {
  std::mutex mutex;
  bool is_running = false;
  std::thread::id thread;
  std::vector<LimitFailure> from_others;
};
inline Running g_running;

inline void fail_here(const LimitFailure& failure) {
  Catch::AssertionHandler handler("heapprof",
                                  Catch::SourceLineInfo(failure.file, static_cast<std::size_t>(failure.line)),
                                  Catch::StringRef(), Catch::ResultDisposition::ContinueOnFailure);
  handler.handleMessage(Catch::ResultWas::ExplicitFailure, failure.message());
#ifdef __cpp_exceptions
  // With --abort, complete() throws, which is not allowed here: the run ends after this test.
  try {
    handler.complete();
  } catch (...) {
  }
#else
  handler.complete();
#endif
}

inline void fail_here_or_later(const LimitFailure& failure) {
  {
    const std::lock_guard<std::mutex> lock(g_running.mutex);
    if (!g_running.is_running || g_running.thread != std::this_thread::get_id()) {
      g_running.from_others.push_back(failure);
      return;
    }
  }
  fail_here(failure);
}

inline void fail_for_others() {
  std::vector<LimitFailure> failures;
  {
    const std::lock_guard<std::mutex> lock(g_running.mutex);
    failures.swap(g_running.from_others);
  }
  for (const LimitFailure& failure : failures) fail_here(failure);
}

inline void set_running(bool is_running) {
  const std::lock_guard<std::mutex> lock(g_running.mutex);
  g_running.is_running = is_running;
  g_running.thread = std::this_thread::get_id();
}

// These call prepareTestCase() and tearDownTestCase() in versions of Catch2 that have them; in others they do nothing.
template <class Handle>
auto prepare(const Handle& handle, int) -> decltype(handle.prepareTestCase()) {
  return handle.prepareTestCase();
}
template <class Handle>
void prepare(const Handle&, long) {}
template <class Handle>
auto tear_down(const Handle& handle, int) -> decltype(handle.tearDownTestCase()) {
  return handle.tearDownTestCase();
}
template <class Handle>
void tear_down(const Handle&, long) {}

// Replaces a test's body, and runs it between the begin and the end of its limits. A listener's events cannot do that,
// because what the reporter allocates for the test comes between them, too.
class Invoker : public Catch::ITestInvoker {
 public:
  explicit Invoker(const TestHandle& test) : test_(test) {}

  void prepareTestCase() { prepare(test_, 0); }
  void tearDownTestCase() { tear_down(test_, 0); }
  void invoke() const {
    const auto& info = test_.getTestCaseInfo();
    TestLimits limits(info.lineInfo.file, static_cast<int>(info.lineInfo.line));
    for (const auto& tag : info.tags) {
      constexpr std::string_view kOurs = "heapprof:";
      const std::string_view text = text_of(tag);
      if (text.substr(0, kOurs.size()) != kOurs) continue;
      for (NamedLimit& limit : parse_limits(text.substr(kOurs.size()))) limits.add(std::move(limit));
    }
    set_running(true);
    {
      scope test(intern("test", info.name));
      limits.begin();
      run(&limits);
    }
    fail_for_others();
    set_running(false);
  }

 private:
  void run(TestLimits* limits) const {
#ifdef __cpp_exceptions
    try {
      test_.invoke();
    } catch (...) {  // the test has failed, or is skipped
      limits->cancel();
      fail_for_others();
      set_running(false);
      throw;
    }
#else
    test_.invoke();
#endif
    limits->end();
  }

  TestHandle test_;
};

class Listener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testRunStarting(const Catch::TestRunInfo&) override {
    before_ = set_limit_handler(fail_here_or_later);
    static bool is_done = false;  // two files may have included the listener
    if (std::exchange(is_done, true)) return;
    // The list belongs to the run and is not constant: Catch2 sorts it.
    auto& tests = const_cast<std::vector<TestHandle>&>(
        Catch::getRegistryHub().getTestCaseRegistry().getAllTestsSorted(*m_config));
    for (TestHandle& test : tests) test = wrapped(test);
  }

  void testRunEnded(const Catch::TestRunStats&) override {
    set_limit_handler(before_);
    if (g_running.from_others.empty()) return;
    for (const LimitFailure& failure : g_running.from_others) std::fputs(failure.message().c_str(), stderr);
    std::fputs("heapprof: these limits failed outside all tests\n", stderr);
    std::abort();
  }

 private:
#if CATCH_VERSION_MAJOR >= 3
  static TestHandle wrapped(const TestHandle& test) {
    static std::vector<std::unique_ptr<Invoker>> all;
    all.push_back(std::make_unique<Invoker>(test));
    return {const_cast<Catch::TestCaseInfo*>(&test.getTestCaseInfo()), all.back().get()};
  }
#else
  static TestHandle wrapped(const TestHandle& test) {
    return {new Invoker(test), Catch::TestCaseInfo(test.getTestCaseInfo())};
  }
#endif

  LimitHandler before_ = nullptr;
};

}  // namespace catch2
}  // namespace heapprof

namespace {
using HeapprofListener_ = ::heapprof::catch2::Listener;
}
CATCH_REGISTER_LISTENER(HeapprofListener_)

#endif  // HEAPPROF_CATCH2_HPP
