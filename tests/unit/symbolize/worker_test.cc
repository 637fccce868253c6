// tests/unit/symbolize/worker_test.cc: jobs that crash, never end or are many.
#include "cli/symbolize/worker.h"

#include <catch2/catch.hpp>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <new>

using namespace heapprof::cli;

namespace {

std::map<size_t, std::string> run(size_t jobs, const WorkerLimits& limits,
                                  const std::function<std::string(size_t)>& job, std::vector<size_t>* without) {
  std::map<size_t, std::string> results;
  *without = run_in_worker(jobs, limits, job, [&](size_t i, std::string bytes) {
    CHECK(results.empty() == (i == 0 || results.empty()));
    CHECK(results.count(i) == 0);
    results[i] = std::move(bytes);
  });
  return results;
}

}  // namespace

TEST_CASE("results arrive whole, in order, in the caller's process") {
  std::vector<size_t> without;
  pid_t self = ::getpid();
  auto results = run(
      50, {},
      [&](size_t i) { return ::getpid() == self ? std::string("here") : std::string(i * 10000, char('a' + i % 26)); },
      &without);
  CHECK(without.empty());
  REQUIRE(results.size() == 50);
  for (const auto& [i, bytes] : results) CHECK(bytes == std::string(i * 10000, char('a' + i % 26)));
}

TEST_CASE("a job that crashes costs its own result only") {
  std::vector<size_t> without;
  auto results = run(
      8, {},
      [](size_t i) -> std::string {
        if (i == 0) ::_exit(0);
        if (i == 3) ::raise(SIGKILL);
        if (i == 4) ::raise(SIGSEGV);
        if (i == 7) throw std::bad_alloc();
        return std::to_string(i);
      },
      &without);
  CHECK(without == std::vector<size_t>{0, 3, 4, 7});
  CHECK(results == std::map<size_t, std::string>{{1, "1"}, {2, "2"}, {5, "5"}, {6, "6"}});
}

TEST_CASE("a job that does not end is ended") {
  std::vector<size_t> without;
  WorkerLimits limits;
  SECTION("by its processor time") {
    limits.job_cpu_s = 1;
    limits.job_silence_s = 60;
  }
  SECTION("by the time it takes") { limits.job_silence_s = 1; }
  auto results = run(
      3, limits,
      [&](size_t i) -> std::string {
        volatile size_t spins = 0;
        while (i == 1) spins = spins + 1;
        return "ended";
      },
      &without);
  CHECK(without == std::vector<size_t>{1});
  CHECK(results.size() == 2);
}

TEST_CASE("no jobs, no child") {
  std::vector<size_t> without;
  CHECK(run(
            0, {}, [](size_t) { return std::string(); }, &without)
            .empty());
  CHECK(without.empty());
}
