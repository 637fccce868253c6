// tests/unit/model/history_baseline_test.cc: which runs of a history are a baseline, and the median of them.
#include "cli/model/judge/history_baseline.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

HistoryEntry run_of(uint64_t peak, std::optional<bool> ok = std::nullopt, const std::string& device = "host") {
  HistoryEntry entry;
  entry.name = "render";
  entry.command = {"./render", "small.usd"};
  entry.device = device;
  entry.metrics[metric_index(Metric::kPeak)] = peak;
  entry.ok = ok;
  return entry;
}

Evidence compared(const std::vector<HistoryEntry>& runs, std::vector<Subject> subjects, const Budget& budget = {}) {
  Evidence evidence;
  evidence.subjects = std::move(subjects);
  compare_with_runs(budget, runs, &evidence);
  return evidence;
}

}  // namespace

TEST_CASE("runs are those of the command, wherever its program lies, that kept their limits") {
  HistoryEntry other = run_of(7);
  other.command = {"./render", "large.usd"};
  HistoryEntry elsewhere = run_of(3, true);
  elsewhere.command[0] = "/opt/render";
  const std::vector<HistoryEntry> runs =
      runs_of_command({run_of(1), other, run_of(2, false), elsewhere}, "render", {"build/render", "small.usd"});
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].metrics[metric_index(Metric::kPeak)] == 1);
  CHECK(runs[1].metrics[metric_index(Metric::kPeak)] == 3);
  CHECK(count_baseline_runs(runs) == 2);
}

TEST_CASE("of runs under several names those under the budget's count, and of none under it all") {
  HistoryEntry named = run_of(9);
  named.name = "nightly";
  const std::vector<HistoryEntry> entries = {run_of(1), named};
  CHECK(runs_of_command(entries, "nightly", named.command).size() == 1);
  CHECK(runs_of_command(entries, "weekly", named.command).size() == 2);
}

TEST_CASE("an entry without a command goes by its name") {
  HistoryEntry bare = run_of(1);
  bare.command.clear();
  CHECK(runs_of_command({bare}, "render", {"./x"}).size() == 1);
  CHECK(runs_of_command({bare}, "x", {"./x"}).empty());
}

TEST_CASE("the baseline is the median of the last twenty runs of each device") {
  std::vector<HistoryEntry> runs;
  for (int i = 0; i < 15; ++i) runs.push_back(run_of(1'000'000));  // too old: five of them count
  for (uint64_t i = 0; i < 15; ++i) runs.push_back(run_of(100 + i));
  runs.push_back(run_of(7, std::nullopt, "cuda:0"));
  const Evidence evidence = compared(runs, {{Metric::kPeak, "host"}, {Metric::kPeak, "cuda:0"}});
  CHECK(evidence.baseline == std::vector<uint64_t>{109, 7});  // (109 + 110) / 2, and 7
  CHECK(count_baseline_runs({runs.begin(), runs.begin() + 30}) == kBaselineRuns);
}

TEST_CASE("what a history does not know is compared with nothing, and judged only by its limit") {
  Budget budget;
  budget.subtrees.push_back({{"f", "", ""}, "f", {}});
  Limit limit;
  limit.subject = {Metric::kPeak, "host", false, 0};
  limit.most = 5;
  budget.limits = {limit};
  const Subject unknown = {Metric::kLeaked, "host"};
  Evidence evidence = compared({run_of(100)}, {{Metric::kPeak, "host"}, unknown, limit.subject}, budget);
  REQUIRE(evidence.subjects == std::vector<Subject>{{Metric::kPeak, "host"}, limit.subject});
  CHECK(evidence.is_compared == std::vector<bool>{true, false});
  evidence.runs = {{5'000, 6}};
  const std::vector<Judged> lines = judge(budget, evidence);
  CHECK(lines[0].reason == Reason::kOverBaseline);
  CHECK(lines[0].base == 100);
  CHECK_FALSE(lines[1].base);
  CHECK(lines[1].reason == Reason::kOverLimit);
}
