// tests/unit/target/process_births_test.cc: no process that began since is left out.
#include "cli/target/process_births.h"

#include "cli/base/clock.h"
#include "cli/target/process_names.h"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST_CASE("the numbers given out since are those up to the last one") {
  const auto span = pids_since(11'200, kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n");
  REQUIRE(span);
  CHECK(span->first == 11'200);
  CHECK(span->last == 11'206);
  const auto none = pids_since(11'206, kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n");
  REQUIRE(none);
  CHECK(none->first == none->last);
}

TEST_CASE("where the numbers may have gone round nothing is said") {
  CHECK_FALSE(pids_since(11'207, kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n"));  // they have
  CHECK(pids_since(11'200, 32 * kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n"));   // too little time for it
  CHECK_FALSE(pids_since(11'200, 33 * kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n"));
  CHECK_FALSE(pids_since(300, kMs, "0.20 0.18 0.12 1/80 306\n", "541\n"));  // almost all are taken
  CHECK_FALSE(pids_since(300, 0, "0.20 0.18 0.12 1/18446744073709551615 306\n", "32768\n"));
  CHECK(pids_since(11'200, 3000 * kMs, "0.20 0.18 0.12 1/80 11206\n", "4194304\n"));
}

TEST_CASE("where many began, or /proc does not say, nothing is said") {
  CHECK_FALSE(pids_since(11'000, kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n"));
  CHECK_FALSE(pids_since(11'200, kMs, "", "32768\n"));
  CHECK_FALSE(pids_since(11'200, kMs, "0.20 0.18 0.12 1/80 11206\n", ""));
  CHECK_FALSE(pids_since(11'200, kMs, "0.20 0.18 0.12 1 11206\n", "32768\n"));
  CHECK_FALSE(pids_since(0, kMs, "0.20 0.18 0.12 1/80 11206\n", "32768\n"));
}

TEST_CASE("a process that began since is found by its environment, a thread is not") {
  const uint64_t before_ns = monotonic_ns();
  const pid_t first = fork();
  if (first == 0) _exit(0);
  REQUIRE(waitpid(first, nullptr, 0) == first);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    _exit(static_cast<int>(read(ends[0], &byte, 1)));
  }
  std::thread thread([&] {  // with a number of its own, and the environment of this process
    char byte;
    static_cast<void>(read(ends[0], &byte, 1));
  });
  const std::string path = std::getenv("PATH");
  const std::vector<pid_t> all = processes_with("PATH", path);
  const PidSpan span{first, pids_since(first, monotonic_ns() - before_ns).value_or(PidSpan{first, child + 8}).last};
  const std::vector<pid_t> found = processes_with("PATH", path, span);
  CHECK(std::count(all.begin(), all.end(), child) == 1);
  CHECK(std::count(found.begin(), found.end(), child) == 1);
  for (const pid_t pid : found)
    CHECK((pid > span.first && pid <= span.last && std::count(all.begin(), all.end(), pid) <= 1));
  const pid_t own = getpid();
  CHECK(std::none_of(found.begin(), found.end(), [own](pid_t pid) {
    return access(("/proc/" + std::to_string(own) + "/task/" + std::to_string(pid)).c_str(), F_OK) == 0;
  }));
  CHECK(write(ends[1], "ab", 2) == 2);
  close(ends[1]);
  thread.join();
  CHECK(waitpid(child, nullptr, 0) == child);
  close(ends[0]);
}

// Its environment reads as empty for a moment of each exec.
TEST_CASE("a process that is just replacing its program is found") {
  const pid_t child = fork();
  if (child == 0) {
    const std::string self = "if [ $1 -gt 0 ]; then exec sh -c \"$0\" \"$0\" $(($1-1)); fi";
    execlp("sh", "sh", "-c", self.c_str(), self.c_str(), "300", nullptr);
    _exit(127);
  }
  const std::string path = std::getenv("PATH");
  const PidSpan only_child{child - 1, child};
  size_t found = 0;
  size_t missed = 0;   // though it was found again later
  size_t missing = 0;  // since it was found last: it may be ending
  while (waitpid(child, nullptr, WNOHANG) == 0) {
    if (processes_with("PATH", path, only_child).empty()) {
      ++missing;
      continue;
    }
    ++found;
    missed += std::exchange(missing, 0);
  }
  CHECK(found > 0);
  CHECK(missed == 0);
}

}  // namespace
}  // namespace heapprof::cli
