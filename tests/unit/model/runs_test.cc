// tests/unit/model/runs_test.cc: the median of several runs, their noise, and which runs of two sets belong together.
#include "cli/model/compare/runs.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

RunTotals run_of(const std::string& file, std::vector<std::string> command, uint64_t peak_bytes = 0) {
  RunTotals run;
  run.file = file;
  run.command = std::move(command);
  PlaceNumbers numbers;
  numbers.peak_bytes = peak_bytes;
  run.devices = {{"host", numbers}};
  return run;
}

std::string text(const Pairing& pairing) {
  const auto list = [](const std::vector<size_t>& numbers) {
    std::string result;
    for (const size_t i : numbers) result += std::to_string(i);
    return result;
  };
  std::string result;
  for (const RunPair& pair : pairing.pairs) result += list(pair.base) + "-" + list(pair.current) + " ";
  return result + "| " + list(pairing.base_only) + " | " + list(pairing.current_only);
}

}  // namespace

TEST_CASE("the median run is the lower of two in the middle") {
  std::vector<RunTotals> runs = {run_of("a", {"x"}, 30), run_of("b", {"x"}, 10), run_of("c", {"x"}, 20)};
  CHECK(median_run(runs) == 2);
  runs.push_back(run_of("d", {"x"}, 25));
  CHECK(median_run(runs) == 2);
  CHECK(median_run({run_of("a", {"x"}, 5), run_of("b", {"x"}, 5), run_of("c", {"x"}, 5)}) == 1);
}

TEST_CASE("the noise is the largest distance from the median run") {
  const std::vector<RunTotals> runs = {run_of("a", {"x"}, 1000), run_of("b", {"x"}, 998), run_of("c", {"x"}, 1003)};
  CHECK(find_noise(runs, "host", Metric::kPeak).part == 3);
  CHECK(find_noise(runs, "host", Metric::kPeak).whole == 1000);
  CHECK(find_noise(runs, "host", Metric::kLeaked).part == 0);
  CHECK(find_noise(runs, "cuda:0", Metric::kPeak).part == 0);
  CHECK(find_noise({runs[0]}, "host", Metric::kPeak).part == 0);
}

TEST_CASE("runs are paired by command, wherever their program lies, then by file name") {
  const std::vector<RunTotals> base = {run_of("base/1.json", {"/old/render", "a"}),
                                       run_of("base/2.json", {"/old/render", "b"}),
                                       run_of("base/3.json", {"/old/render", "a"}),
                                       run_of("base/odd.json", {"x", "/tmp/1"}), run_of("base/gone.json", {"y"})};
  const std::vector<RunTotals> current = {run_of("new/z.json", {"new/render", "b"}),
                                          run_of("new/y.json", {"new/render", "a"}),
                                          run_of("new/odd.json", {"x", "/tmp/2"}), run_of("new/own.json", {"z"})};
  CHECK(text(pair_runs(base, current)) == "1-0 02-1 3-2 | 4 | 3");
  CHECK(text(pair_runs({}, current)) == "|  | 0123");
}

TEST_CASE("what ran is known by its file name and arguments") {
  CHECK(is_same_command(run_of("", {"/a/x", "1"}), run_of("", {"./x", "1"})));
  CHECK_FALSE(is_same_command(run_of("", {"x", "1"}), run_of("", {"x", "2"})));
  CHECK_FALSE(is_same_command(run_of("", {"x"}), run_of("", {"y"})));
  CHECK(is_same_command(run_of("", {}), run_of("", {"y"})));
}
