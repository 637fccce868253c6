// tests/unit/public_headers/test_limits_test.cc: heapprof/test_limits.hpp: limits as text, defaults, and what the test
// framework takes.
#include "tests/unit/public_headers/fake_agent.h"

#include <catch2/catch.hpp>
#include <heapprof/test_limits.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace heapprof {
namespace {

std::vector<std::string> g_said;  // of each failure: its text, need, found

void say(const LimitFailure& failure) {
  g_said.push_back(failure.fault == LimitFault::kOver
                       ? std::string(failure.text) + " found " + std::to_string(failure.found)
                       : failure.message().substr(0, failure.message().find('\n')));
}

struct Said {
  Said() : before(set_limit_handler(say)) { g_said.clear(); }
  ~Said() {
    set_limit_handler(before);
    set_default_limits("");
    unsetenv("HEAPPROF_TEST_LIMITS");
    unsetenv("HEAPPROF_REQUIRED");
  }
  LimitHandler before;
};

using Lines = std::vector<std::string>;

TEST_CASE("a limit is a name and a value, with a device or without") {
  const NamedLimit peak = parse_limit("peak", "64 MiB");
  CHECK(peak.is_good());
  CHECK(peak.kind == LimitKind::kPeak);
  CHECK(peak.need == 64u << 20);
  CHECK(peak.device == "host");
  CHECK(peak.text == "peak=64 MiB");
  const NamedLimit leaked = parse_limit("leaked", "cuda:0=1.5GiB");
  CHECK(leaked.kind == LimitKind::kLeaked);
  CHECK(leaked.device == "cuda:0");
  CHECK(leaked.need == 3u << 29);
  CHECK(parse_limit("allocations", "100").need == 100);
  CHECK(parse_limit("bytes", "0").kind == LimitKind::kBytes);
  CHECK(parse_limit("allocations", "100B").fault == LimitFault::kBadNumber);
  CHECK(parse_limit("allocations", "1.5").fault == LimitFault::kBadNumber);
  CHECK(parse_limit("allocations", "").fault == LimitFault::kBadNumber);
  CHECK(parse_limit("peak", "").fault == LimitFault::kBadSize);
  CHECK(parse_limit("peak", "64M").fault == LimitFault::kAmbiguousSize);
  CHECK(parse_limit("peaks", "64MiB").fault == LimitFault::kBadLimit);
  CHECK(parse_limits("").empty());
  const auto two = parse_limits("peak=64 MiB, leaked=host=0,");
  REQUIRE(two.size() == 2);
  CHECK(two[0].need == 64u << 20);
  CHECK(two[1].kind == LimitKind::kLeaked);
  REQUIRE(parse_limits("peak").size() == 1);
  CHECK(parse_limits("peak")[0].fault == LimitFault::kBadSize);
}

TEST_CASE("the limits of a test are held, its own before the defaults") {
  FakeAgent agent;
  const Said said;
  set_default_limits("peak=100,leaked=0,bytes=cuda:0=5");
  const auto run = [&](const char* own, const Usage& framework = {}) {
    TestLimits limits("a_test.cc", 7);
    for (NamedLimit& limit : parse_limits(own)) limits.add(limit);
    limits.begin();
    agent.allocate(150);
    agent.release(150);
    agent.allocate(10);
    agent.allocate(6, "cuda:0");
    limits.end(framework);
    agent.release(10);
    agent.release(6, "cuda:0");
    Lines lines;
    lines.swap(g_said);
    return lines;
  };
  CHECK(run("") == Lines{"peak=100 found 150", "leaked=0 found 10", "bytes=cuda:0=5 found 6"});
  CHECK(run("peak=150") == Lines{"leaked=0 found 10", "bytes=cuda:0=5 found 6"});
  CHECK(run("peak=149,leaked=10,bytes=cuda:0=6") == Lines{"peak=149 found 150"});
  CHECK(run("peak=1,leaked=1KiB,bytes=cuda:0=6,allocations=1") == Lines{"peak=1 found 150", "allocations=1 found 2"});
  CHECK(run("peak=150,leaked=10,bytes=cuda:0=1kB,peek=7") == Lines{"heapprof: 'peek' is no limit"});
  Usage framework;
  framework.peak_bytes = 50;
  framework.total_blocks = 2;
  framework.live_bytes = 10;
  CHECK(run("allocations=0,bytes=cuda:0=6", framework).empty());
  setenv("HEAPPROF_TEST_LIMITS", "leaked=9", 1);
  CHECK(run("") == Lines{"leaked=9 found 10"});
  setenv("HEAPPROF_TEST_LIMITS", "", 1);
  CHECK(run("").empty());
}

TEST_CASE("what cannot be checked is required of tests that have limits, and of no others") {
  const Said said;
  setenv("HEAPPROF_REQUIRED", "1", 1);
  for (const char* own : {"", "peak=1"}) {
    TestLimits limits("a_test.cc", 7);
    limits.watch("host");
    for (NamedLimit& limit : parse_limits(own)) limits.add(limit);
    limits.begin();
    limits.end();
  }
  CHECK(g_said == Lines{"heapprof: a limit was not checked, and HEAPPROF_REQUIRED is set"});
}

}  // namespace
}  // namespace heapprof
