// tests/unit/public_headers/limits_test.cc: heapprof/limits.hpp: what is over a limit and what is not, limits within
// limits, in several threads at once, and those that cannot be checked. The numbers are a fake agent's.
#include "tests/unit/public_headers/fake_agent.h"

#include <catch2/catch.hpp>
#include <heapprof/heapprof.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heapprof {
namespace {

std::mutex g_mutex;
std::vector<LimitFailure> g_failures;

void keep(const LimitFailure& failure) {
  const std::lock_guard lock(g_mutex);
  g_failures.push_back(failure);
}

// Failures come to g_failures while it lives.
struct Kept {
  Kept() {
    g_failures.clear();
    before = set_limit_handler(keep);
  }
  ~Kept() {
    set_limit_handler(before);
    unsetenv("HEAPPROF_REQUIRED");
  }
  LimitHandler before;
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("a peak is counted from the begin of its limit") {
  FakeAgent agent;
  const Kept kept;
  agent.allocate(1000);
  agent.allocate(9000);
  agent.release(9000);  // before
  {
    HEAPPROF_REQUIRE_MAX_PEAK("500");
    agent.allocate(500);
    agent.release(500);
    agent.allocate(499);
    agent.release(499);
  }
  CHECK(g_failures.empty());
  {
    HEAPPROF_REQUIRE_MAX_PEAK("500");
    agent.allocate(501);
    agent.release(501);
  }
  REQUIRE(g_failures.size() == 1);
  CHECK(g_failures[0].need == 500);
  CHECK(g_failures[0].found == 501);
  CHECK(g_failures[0].live_at_begin == 1000);
  const std::string message = g_failures[0].message();
  CHECK(has(message, "host peak is over its limit"));
  CHECK(has(message, "HEAPPROF_REQUIRE_MAX_PEAK(\"500\")"));
  CHECK(has(message, "limits_test.cc:"));
  CHECK(has(message, "need   at most 500 B"));
  CHECK(has(message, "found  501 B above 1000 B"));
  CHECK(has(message, "  sites  measure 1\n           f  a.cc:1\n  all    heapprof report"));
}

TEST_CASE("each kind of limit has its own number") {
  FakeAgent agent;
  const Kept kept;
  agent.allocate(50);
  const auto use_memory = [&] {
    agent.allocate(100);
    agent.allocate(20);
    agent.release(100);
    agent.allocate(7, "cuda:1");
  };
  {
    HEAPPROF_REQUIRE_MAX_PEAK(120);
    HEAPPROF_REQUIRE_MAX_BYTES(120);
    HEAPPROF_REQUIRE_MAX_ALLOCATIONS(2);
    HEAPPROF_REQUIRE_MAX_LEAKED("20 B");
    HEAPPROF_REQUIRE_MAX_PEAK("7", "cuda:1");
    HEAPPROF_REQUIRE_NO_LEAKS("cuda:0");
    HEAPPROF_REQUIRE(use.peak_bytes == 120 && use.total_bytes == 120 && use.total_blocks == 2);
    HEAPPROF_REQUIRE(use.live_bytes == 20 && use.live_blocks == 1);
    HEAPPROF_REQUIRE_ON("cuda:1", use.total_blocks == 1);
    use_memory();
  }
  CHECK(g_failures.empty());
  std::vector<uint64_t> found;
  {
    HEAPPROF_REQUIRE_MAX_PEAK(119);
    HEAPPROF_REQUIRE_MAX_BYTES(119);
    HEAPPROF_REQUIRE_MAX_ALLOCATIONS(1u);
    HEAPPROF_REQUIRE_MAX_LEAKED(19);
    HEAPPROF_REQUIRE_MAX_PEAK("6", "cuda:1");
    HEAPPROF_REQUIRE_NO_LEAKS("cuda:1");
    HEAPPROF_REQUIRE_NO_ALLOCATIONS();
    HEAPPROF_REQUIRE(use.live_bytes < 20);
    use_memory();
  }
  for (const LimitFailure& failure : g_failures) found.push_back(failure.found);
  CHECK(found == std::vector<uint64_t>{0, 3, 7, 7, 20, 2, 120, 120});  // the last limit ends first
  CHECK(has(g_failures[0].message(), "use.live_bytes 20, use.live_blocks 1"));
  agent.release(70);
  {
    HEAPPROF_REQUIRE_NO_LEAKS();
    agent.release(20);  // less than at the begin is no leak
  }
  CHECK(g_failures.size() == 8);
}

TEST_CASE("limits within limits have their own peaks, whatever phases begin and end") {
  FakeAgent agent;
  const Kept kept;
  std::mt19937 random(4711);
  struct Open {
    std::optional<Limit> limit;
    uint64_t begin;
    uint64_t peak;
  };
  uint64_t live = 0;
  size_t judged = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Open> open(12);
    for (int step = 0; step < 300; ++step) {
      Open& one = open[random() % open.size()];
      switch (random() % 8) {
        case 0:
          if (one.limit) break;
          one.begin = one.peak = live;
          one.limit.emplace(LimitKind::kPeak, "any", __FILE__, __LINE__, detail::at_most(0));
          break;
        case 1: {
          if (!one.limit) break;
          one.limit->stop();
          REQUIRE(one.limit->usage() != nullptr);
          REQUIRE(one.limit->usage()->peak_bytes == one.peak - one.begin);
          one.limit->cancel();
          one.limit.reset();
          ++judged;
          break;
        }
        case 2: begin_phase(); break;
        case 3:
          if (live < 1000) break;
          agent.release(live / 2);
          live -= live / 2;
          break;
        default: {
          const uint64_t bytes = random() % 1000;
          agent.allocate(bytes);
          live += bytes;
          for (Open& other : open) other.peak = std::max(other.peak, live);
        }
      }
    }
    for (Open& one : open) {
      if (one.limit) one.limit->cancel();
    }
  }
  CHECK(judged > 1000);
  CHECK(agent.phases() > 3000);
}

TEST_CASE("threads have limits at once, each with its own numbers") {
  FakeAgent agent;
  const Kept kept;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 6; ++i) {
    threads.emplace_back([&agent, i] {
      const std::string device = "cuda:" + std::to_string(i);
      for (int round = 0; round < 200; ++round) {
        HEAPPROF_REQUIRE(use.total_bytes >= 1000 * (i + 1) && use.peak_bytes <= 21'000);  // all six: 1000 to 6000
        HEAPPROF_REQUIRE_ON(device.c_str(), use.total_bytes == 10 && use.peak_bytes == 10 && use.live_bytes == 0);
        const uint64_t blocks = i * 3;
        {
          Limit mine(LimitKind::kThreadAllocations, "mine", __FILE__, __LINE__, detail::at_most(blocks + 2));
          agent.allocate(1000 * (i + 1));
          agent.allocate(10, device.c_str());
          for (uint64_t k = 0; k < blocks; ++k) agent.allocate(0);
        }
        for (uint64_t k = 0; k < blocks; ++k) agent.release(0);
        agent.release(10, device.c_str());
        agent.release(1000 * (i + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(g_failures.empty());
  CHECK(detail::g_open_limits.first == nullptr);
}

FakeAgent* g_agent = nullptr;

TEST_CASE("what a failure takes to be said is no outer limit's") {
  FakeAgent agent;
  g_agent = &agent;
  const Kept kept;
  set_limit_handler([](const LimitFailure& failure) {
    g_agent->allocate(5000);
    keep(failure);
  });
  {
    HEAPPROF_REQUIRE_MAX_BYTES(100);
    HEAPPROF_REQUIRE_NO_LEAKS();
    {
      HEAPPROF_REQUIRE_MAX_ALLOCATIONS(0);
      agent.allocate(10);
    }
    CHECK(g_failures.empty());  // it is kept
    {
      HEAPPROF_REQUIRE_MAX_ALLOCATIONS(1);
      agent.release(10);
    }
    std::thread([&] {
      HEAPPROF_REQUIRE_MAX_PEAK(1);
      agent.allocate(2);
      agent.release(2);
    }).join();
    CHECK(g_failures.size() == 1);  // another thread's is said at once, and counts: it is not this thread's
  }
  REQUIRE(g_failures.size() == 4);
  CHECK(g_failures[0].kind == LimitKind::kPeak);
  CHECK(g_failures[1].kind == LimitKind::kAllocations);
  CHECK(g_failures[2].kind == LimitKind::kLeaked);
  CHECK(g_failures[2].found == 5000);
  CHECK(g_failures[3].kind == LimitKind::kBytes);
  CHECK(g_failures[3].found == 5012);
}

TEST_CASE("a size that cannot be read fails, with a profiler and without") {
  const Kept kept;
  for (const bool has_agent : {false, true}) {
    std::optional<FakeAgent> agent;
    if (has_agent) agent.emplace();
    g_failures.clear();
    HEAPPROF_REQUIRE_MAX_PEAK("64 Mib");
    REQUIRE(g_failures.size() == 1);
    CHECK(has(g_failures[0].message(), "'64 Mib' is no size"));
    HEAPPROF_REQUIRE_MAX_BYTES("64M");
    REQUIRE(g_failures.size() == 2);
    CHECK(has(g_failures[1].message(), "'64M' can be read in two ways"));
    HEAPPROF_REQUIRE_MAX_LEAKED(-1);
    CHECK(g_failures.size() == 3);
  }
  FakeAgent agent;
  g_failures.clear();
  {
    HEAPPROF_REQUIRE_MAX_PEAK("1", "gpu");
    HEAPPROF_REQUIRE_MAX_LEAKED("1", "heap");
  }
  REQUIRE(g_failures.size() == 2);
  CHECK(has(g_failures[0].message(), "there is no device 'gpu'"));
}

TEST_CASE("what cannot be checked passes, and fails where it is required") {
  const Kept kept;
  const auto try_all = [] {
    HEAPPROF_REQUIRE_MAX_PEAK(0);
    HEAPPROF_REQUIRE_NO_LEAKS();
    HEAPPROF_REQUIRE_NO_ALLOCATIONS();
    HEAPPROF_REQUIRE(false);
  };
  for (const int result : {HEAPPROF_INACTIVE, HEAPPROF_UNAVAILABLE}) {
    std::optional<FakeAgent> agent;
    if (result != HEAPPROF_INACTIVE) agent.emplace().answer(result);
    g_failures.clear();
    for (const char* value : {"", "0"}) {
      setenv("HEAPPROF_REQUIRED", value, 1);
      try_all();
    }
    CHECK(g_failures.empty());
    setenv("HEAPPROF_REQUIRED", "1", 1);
    try_all();
    REQUIRE(g_failures.size() == 4);
    for (const LimitFailure& failure : g_failures) CHECK(failure.fault == LimitFault::kNotChecked);
    const bool is_inactive = result == HEAPPROF_INACTIVE;
    CHECK(has(g_failures[0].message(), is_inactive ? "no profiler records" : "could not answer"));
    unsetenv("HEAPPROF_REQUIRED");
  }
}

TEST_CASE("each kind asks for its own sites, and no measurement is left open") {
  FakeAgent agent;
  const Kept kept;
  {
    HEAPPROF_REQUIRE_MAX_BYTES("1");
    HEAPPROF_REQUIRE_MAX_ALLOCATIONS(0);
    HEAPPROF_REQUIRE_MAX_LEAKED("1");
    HEAPPROF_REQUIRE_NO_ALLOCATIONS();
    HEAPPROF_REQUIRE(use.total_bytes == 0);
    agent.allocate(100);
  }
  REQUIRE(g_failures.size() == 5);
  for (const LimitFailure& failure : g_failures) {
    const std::string line = "  sites  measure " + std::to_string(measure_of(failure.kind));
    CHECK(has(failure.message(), line.c_str()));
  }
  CHECK(measure_of(LimitKind::kThreadAllocations) == HEAPPROF_TOTAL_BLOCKS);
  CHECK(measure_of(LimitKind::kLeaked) == HEAPPROF_LIVE);
  CHECK(agent.open_measurements() == 0);
  try {
    HEAPPROF_REQUIRE_MAX_PEAK("1");
    HEAPPROF_REQUIRE_NO_ALLOCATIONS();
    throw std::runtime_error("thrown");
  } catch (const std::runtime_error&) {
  }
  CHECK(agent.open_measurements() == 0);
}

TEST_CASE("a limit whose phase may be lost is not judged") {
  FakeAgent agent;
  const Kept kept;
  setenv("HEAPPROF_REQUIRED", "1", 1);
  {
    HEAPPROF_REQUIRE_MAX_PEAK(1000);
    HEAPPROF_REQUIRE_MAX_PEAK(1000, "cuda:0");
    agent.answer(HEAPPROF_UNAVAILABLE);
    CHECK(begin_phase() == HEAPPROF_UNAVAILABLE);
    agent.answer(HEAPPROF_OK);
  }
  REQUIRE(g_failures.size() == 1);  // the other device's is right
  CHECK(g_failures[0].why_not == NotChecked::kPhaseLost);
}

TEST_CASE("a limit that ends in another thread, or by an exception, is not judged") {
  FakeAgent agent;
  const Kept kept;
  setenv("HEAPPROF_REQUIRED", "1", 1);
  Limit limit(LimitKind::kThreadAllocations, "any", __FILE__, __LINE__, detail::nothing());
  std::thread([&] { limit.end(); }).join();
  REQUIRE(g_failures.size() == 1);
  CHECK(g_failures[0].why_not == NotChecked::kOtherThread);
  try {
    HEAPPROF_REQUIRE_MAX_PEAK(0);
    HEAPPROF_REQUIRE_NO_LEAKS();
    agent.allocate(1);
    throw std::runtime_error("left");
  } catch (const std::runtime_error&) {
  }
  CHECK(g_failures.size() == 1);
  CHECK(detail::g_open_limits.first == nullptr);
}

TEST_CASE("a child that is forked has none of its parent's limits, and may have its own") {
  FakeAgent agent;
  const Kept kept;
  int status = -1;
  std::optional<Limit> parents(std::in_place, LimitKind::kPeak, "any", __FILE__, __LINE__, detail::nothing());
  {
    const auto lock = detail::g_open_limits.lock();  // as if another thread had it
    const pid_t child = fork();
    if (child == 0) {
      agent.allocate(1);
      parents.reset();
      {
        HEAPPROF_REQUIRE_MAX_PEAK(1);
        agent.allocate(2);
      }
      _exit(g_failures.size() == 1 && g_failures[0].found == 2 ? 7 : 8);
    }
    waitpid(child, &status, 0);
  }
  parents.reset();
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(g_failures.empty());
}

}  // namespace
}  // namespace heapprof
