// tests/unit/model/scope_numbers_test.cc: what a limit of a scope counts: inner scopes too, averages rounded up, and
// numbers that nearly do not fit.
#include "cli/model/judge/scope_numbers.h"

#include "cli/model/judge/verdict.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

Scope scope(uint32_t parent, const std::string& name, uint64_t begun) {
  Scope made;
  made.parent = parent;
  made.name = name;
  made.begun = begun;
  return made;
}

// serve > [decode > sample], begun 1, 3 and 6 times.
Profile served() {
  Profile profile;
  profile.scopes.scopes = {scope(0, "serve", 1), scope(1, "decode", 3), scope(2, "sample", 6)};
  profile.scopes.scopes[1].memory = {{"host", 1000, 10, 1500, 9, 600}};
  profile.scopes.scopes[2].memory = {{"cuda:0", 64, 1, 0, 0, 64}, {"host", 800, 4, 100, 1, 300}};
  profile.scopes.scopes[1].calls = {{"copy", 2, 0, 0}, {"synchronize stream", 4, 0, 0}};
  profile.scopes.scopes[2].calls = {{"synchronize event", 1, 0, 0}, {"synchronize stream", 6, 0, 0}};
  profile.scopes.scopes[2].kernel_launches = 7;
  return profile;
}

Subject subject(ScopeMetric metric, bool is_per_run, const ScopePath& path, const std::string& call = "",
                const std::string& device = "host") {
  Subject made;
  made.device = device;
  made.scope = ScopeSubject{0, metric, is_per_run, call, path};
  return made;
}

const ScopePath kDecode = {{"", "serve"}, {"", "decode"}};

}  // namespace

TEST_CASE("a scope's numbers are with the scopes inside of it") {
  const ScopeNumbers numbers(served());
  const auto value = [&](ScopeMetric metric, const std::string& of = "", const std::string& device = "host") {
    return numbers.value(subject(metric, false, kDecode, of, device));
  };
  CHECK(value(ScopeMetric::kCount) == 3);
  CHECK(value(ScopeMetric::kAllocated) == 1800);
  CHECK(value(ScopeMetric::kBlocks) == 14);
  CHECK(value(ScopeMetric::kKept) == 200);
  CHECK(value(ScopeMetric::kPeak) == 600);  // with inner scopes as it is counted: peaks do not add
  CHECK(value(ScopeMetric::kAllocated, "", "cuda:0") == 64);
  CHECK(value(ScopeMetric::kAllocated, "", "cuda:1") == 0);
  CHECK(value(ScopeMetric::kKernelLaunches) == 7);
  CHECK(value(ScopeMetric::kCalls, "synchronize stream") == 10);
  CHECK(value(ScopeMetric::kCalls, "synchronize*") == 11);
  CHECK(value(ScopeMetric::kCalls, "set") == 0);
}

TEST_CASE("what was freed beyond what was allocated is nothing kept") {
  Profile profile = served();
  profile.scopes.scopes[2].memory.clear();
  CHECK(ScopeNumbers(profile).value(subject(ScopeMetric::kKept, false, kDecode)) == 0);
  CHECK(ScopeNumbers(profile).value(subject(ScopeMetric::kKept, true, kDecode)) == 0);
}

TEST_CASE("an average is rounded up, to a hundredth of a count and to a byte") {
  const ScopeNumbers numbers(served());
  CHECK(numbers.value(subject(ScopeMetric::kCalls, true, kDecode, "synchronize stream")) == 334);  // of 3.33…
  CHECK(numbers.value(subject(ScopeMetric::kCalls, true, kDecode, "copy")) == 67);
  CHECK(numbers.value(subject(ScopeMetric::kKernelLaunches, true, {{"", "serve"}})) == 700);
  CHECK(numbers.value(subject(ScopeMetric::kKept, true, kDecode)) == 67);
  CHECK(numbers.value(subject(ScopeMetric::kCalls, true, {{"", "decode"}}, "copy")) ==
        0);  // there is none of that path
}

TEST_CASE("averages of what nearly does not fit stay the largest, and of no run nothing") {
  Profile profile = served();
  profile.scopes.scopes[0].begun = 0;
  profile.scopes.scopes[1].begun = 1;
  profile.scopes.scopes[1].calls[0].count = UINT64_MAX;
  const ScopeNumbers numbers(profile);
  CHECK(numbers.value(subject(ScopeMetric::kCalls, true, kDecode, "copy")) == UINT64_MAX);
  CHECK(numbers.value(subject(ScopeMetric::kCalls, false, kDecode, "*")) == UINT64_MAX);
  CHECK(numbers.value(subject(ScopeMetric::kCalls, true, {{"", "serve"}}, "copy")) == 0);
}

TEST_CASE("scopes are found in whatever order a file has them, and once") {
  Profile profile = served();
  profile.scopes.scopes.push_back(scope(0, "aside", 1));
  profile.scopes.scopes.push_back(scope(1, "decode", 2));  // the same path again
  const ScopeNumbers numbers(profile);
  CHECK(numbers.matching("serve > decode") == std::vector<ScopePath>{kDecode});
  CHECK(numbers.matching("*").size() == 4);
  CHECK(numbers.value(subject(ScopeMetric::kCount, false, kDecode)) == 5);
  CHECK(numbers.nearest("serve > decod", 2) == std::vector<std::string>{"serve > decode", "serve > decode > sample"});
  CHECK(numbers.nearest("asid", 1) == std::vector<std::string>{"aside"});
}

TEST_CASE("a scope deeper than can be named is in the numbers of those around it") {
  Profile profile;
  for (uint32_t i = 0; i < 10'000; ++i) {
    profile.scopes.scopes.push_back(scope(i, "visit", 1));
    profile.scopes.scopes.back().calls = {{"copy", 1, 0, 0}};
  }
  const ScopeNumbers numbers(profile);
  CHECK(numbers.matching("*").size() == ScopeNumbers::kMostLevels);
  CHECK(numbers.nearest("visitor", 2) == std::vector<std::string>{"visit", "visit > visit"});
  CHECK(numbers.value(subject(ScopeMetric::kCalls, false, {{"", "visit"}, {"", "visit"}}, "copy")) == 9'999);
}

TEST_CASE("a baseline holds a scope still, with slack for what it keeps and none for its calls") {
  Budget budget;
  budget.scopes = {{"serve > decode", {"b.toml", 3}}};
  const Profile base = served();
  const auto judged = [&](const Profile& current) {
    Evidence evidence;
    evidence.subjects = find_scope_subjects(budget, {current}, &base);
    evidence.runs = {measure(budget, evidence.subjects, current)};
    evidence.baseline = measure(budget, evidence.subjects, base);
    std::vector<std::string> grown;
    for (const Judged& line : judge(budget, evidence)) {
      if (line.outcome == Outcome::kFail) grown.push_back(scope_shown(*line.subject.scope));
      CHECK(line.at.line == 3);
    }
    return grown;
  };
  CHECK(judged(base).empty());
  Profile current = served();
  current.scopes.scopes[1].calls[1].count += 3;
  CHECK(judged(current) == std::vector<std::string>{"synchronize stream per run"});
  current = served();
  current.scopes.scopes[1].memory[0].freed_bytes = 0;  // 1,500 bytes more are kept: less than the slack
  CHECK(judged(current).empty());
  budget.slack_bytes = 0;
  CHECK(judged(current) == std::vector<std::string>{"kept"});
  current = served();
  current.scopes.scopes[1].begun = 4;
  CHECK(judged(current) == std::vector<std::string>{"count"});
}

TEST_CASE("the limit of a scope is for each scope of the pattern, and for those that any run has") {
  Budget budget;
  budget.scopes = {{"serve*", {"b.toml", 3}}};
  Limit limit;
  limit.subject.scope = ScopeSubject{0, ScopeMetric::kCount, false, "", {}};
  limit.most = 3;
  budget.limits = {limit};
  Profile fewer = served();
  fewer.scopes.scopes.pop_back();
  const std::vector<Profile> runs = {fewer, served(), served()};
  Evidence evidence;
  evidence.subjects = find_scope_subjects(budget, runs, nullptr);
  for (const Profile& run : runs) evidence.runs.push_back(measure(budget, evidence.subjects, run));
  const std::vector<Judged> lines = judge(budget, evidence);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].outcome == Outcome::kOk);
  CHECK(lines[2].outcome == Outcome::kFail);
  CHECK(lines[2].value == 6);  // the median of none, 6 and 6
}

TEST_CASE("a scope has to be in one of the runs, and each run has to have counted all of them") {
  Budget budget;
  budget.scopes = {{"serve > decode > sample", {"b.toml", 3}}};
  Profile without = served();
  without.devices.emplace_back().name = "host";
  without.scopes.scopes.pop_back();
  Profile with = served();
  with.devices = without.devices;
  std::vector<Problem> warnings;
  const std::vector<std::string> files = {"1.json", "2.json"};
  CHECK(check_budget(budget, {without, with}, files, &warnings).ok());
  CHECK(check_budget(budget, {with, without}, files, &warnings).ok());
  CHECK(check_budget(budget, without, "1.json", &warnings).problem().id == "HP166");
  with.scopes.lost = 1;
  CHECK(check_budget(budget, {without, with}, files, &warnings).problem().id == "HP168");
  CHECK(check_budget(budget, {without, with}, files, &warnings).problem().what ==
        "b.toml, line 3: the scopes of 2.json are not all counted: 1 begin found no room");
}
