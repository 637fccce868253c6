// tests/unit/model/rank_findings_test.cc: who failed, who is missing, whose peak is far above the others'.
#include "cli/model/compare/rank_findings.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

Profile ranks_with_peaks(const std::vector<uint64_t>& peaks) {
  Profile profile;
  for (uint32_t i = 0; i < peaks.size(); ++i) {
    MergedPart part;
    part.input = i;
    part.file = "rank." + std::to_string(i) + ".json";
    part.device = "host";
    part.peak_bytes = peaks[i];
    part.end = {EndKind::kExited, 0};
    part.job.launcher = "Slurm";
    part.job.rank = i;
    part.job.ranks = peaks.size();
    part.job.host = "n" + std::to_string(i / 2);
    profile.merged.push_back(part);
  }
  return profile;
}

std::vector<uint32_t> high(const Profile& profile) {
  std::vector<uint32_t> inputs;
  for (const NotedInput& noted : find_high_inputs(profile)) inputs.push_back(noted.part->input);
  return inputs;
}

}  // namespace

TEST_CASE("a peak is high beyond what ranks differ by anyway, and beyond a quarter") {
  CHECK(high(ranks_with_peaks({100, 100, 100, 100, 100})).empty());
  CHECK(high(ranks_with_peaks({100, 100, 100, 100, 125})).empty());  // a quarter, and not beyond
  CHECK(high(ranks_with_peaks({100, 100, 100, 100, 126})) == std::vector<uint32_t>{4});
  CHECK(high(ranks_with_peaks({100, 100, 100, 100, 10})).empty());  // low is not high
  CHECK(high(ranks_with_peaks({60, 80, 100, 120, 140, 160, 180})).empty());
  CHECK(high(ranks_with_peaks({90, 95, 100, 105, 110, 900, 400})) == std::vector<uint32_t>{5, 6});
  CHECK(high(ranks_with_peaks({1, 1000})).empty());  // of two nobody knows which is odd
  CHECK(high(ranks_with_peaks({UINT64_MAX, 1, 1, 1})) == std::vector<uint32_t>{0});
  std::vector<uint64_t> many(100, 1000);
  for (size_t i = 0; i < 20; ++i) many[i] = 5000 + i;
  const std::vector<uint32_t> some = high(ranks_with_peaks(many));
  REQUIRE(some.size() == kMostHighInputs);
  CHECK(some[0] == 19);
}

TEST_CASE("what a rank starts neither fails for it nor counts among ranks") {
  Profile profile = ranks_with_peaks({100, 100, 100, 100});
  for (const uint64_t child : {0, 1, 2}) {
    MergedPart part = profile.merged[child];
    part.input = static_cast<uint32_t>(4 + child);
    part.job.is_child = true;
    part.end = {EndKind::kSignaled, 9};
    part.peak_bytes = 100'000;
    profile.merged.push_back(part);
  }
  CHECK(find_failed_inputs(profile).empty());
  CHECK(find_high_inputs(profile).empty());
  CHECK(count_ranks(profile).ranks == 4);
  CHECK(count_ranks(profile).hosts == 2);
  CHECK(count_ranks(profile).launcher == "Slurm");
  profile.merged[2].end = {EndKind::kSignaled, 9};
  profile.merged[3].end = {EndKind::kExited, 3};
  const std::vector<NotedInput> failed = find_failed_inputs(profile);
  REQUIRE(failed.size() == 2);
  CHECK(input_name(*failed[0].part) == "rank 2 on n1");
  CHECK(failed[0].why == "killed by signal 9");
  CHECK(failed[1].why == "exit 3");
}

TEST_CASE("ranks without a profile are told where the number of ranks is known, and is one") {
  Profile profile = ranks_with_peaks({1, 2, 3, 4, 5});
  CHECK(find_missing_ranks(profile).count == 0);
  profile.merged.erase(profile.merged.begin() + 1, profile.merged.begin() + 3);
  CHECK(find_missing_ranks(profile).count == 2);
  CHECK(find_missing_ranks(profile).first == std::vector<uint64_t>{1, 2});
  profile.merged[0].job.ranks = 7;
  CHECK(find_missing_ranks(profile).count == 0);
  for (MergedPart& part : profile.merged) part.job.ranks = 90'000'000;  // a forged number costs nothing
  CHECK(find_missing_ranks(profile).count == 90'000'000 - 3);
  CHECK(find_missing_ranks(profile).first.size() == kMostNamedRanks);
  for (MergedPart& part : profile.merged) part.job.ranks.reset();
  CHECK(find_missing_ranks(profile).count == 0);
}
