// tests/unit/model/verdict_test.cc: limits at their edges, sites, growth over a baseline, medians of runs, and what is
// never judged.
#include "cli/model/judge/verdict.h"

#include "cli/model/judge/verdict_entry.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using heapprof::test::kMiB;
using heapprof::test::scene_profile;

namespace {

Limit most(Metric metric, uint64_t value, size_t subtree = Subject::kWhole) {
  Limit limit;
  limit.subject = {metric, "host", false, subtree};
  limit.most = value;
  return limit;
}

std::vector<Judged> judge_profile(const Budget& budget, const Profile& profile, const Profile* base = nullptr) {
  Evidence evidence;
  evidence.subjects = find_subjects(budget, profile, base != nullptr);
  evidence.runs = {measure(budget, evidence.subjects, profile)};
  if (base != nullptr) evidence.baseline = measure(budget, evidence.subjects, *base);
  std::vector<Judged> lines = judge(budget, evidence);
  find_culprits(budget, profile, base, "/home/me/render", &lines);
  return lines;
}

const Judged& line_of(const std::vector<Judged>& lines, const std::string& device, Metric metric) {
  for (const Judged& line : lines) {
    if (line.subject.device == device && line.subject.metric == metric) return line;
  }
  FAIL("no such line");
  return lines[0];
}

}  // namespace

TEST_CASE("a limit is kept up to its last byte, and exceeded by one more") {
  const Profile profile = scene_profile();
  const uint64_t peak = profile.devices[0].totals.peak_bytes;
  Budget budget;
  budget.limits = {most(Metric::kPeak, peak)};
  CHECK(judge_profile(budget, profile)[0].outcome == Outcome::kOk);
  budget.limits = {most(Metric::kPeak, peak - 1)};
  const Judged over = judge_profile(budget, profile)[0];
  CHECK(over.outcome == Outcome::kFail);
  CHECK(over.reason == Reason::kOverLimit);
  CHECK(over.value == peak);
  REQUIRE(over.culprit);
  CHECK(over.culprit->function == "build_index");
  CHECK(over.culprit->file == "src/index.cc");
  CHECK(over.culprit->line == 212);
  CHECK(over.culprit->value == 1241 * kMiB);
}

TEST_CASE("near a limit is a warning, and no failure") {
  const Profile profile = scene_profile();
  Budget budget;
  budget.limits = {most(Metric::kPeak, profile.devices[0].totals.peak_bytes * 100 / 95)};
  CHECK(judge_profile(budget, profile)[0].outcome == Outcome::kOk);
  budget.warn_share = 9000;
  CHECK(judge_profile(budget, profile)[0].outcome == Outcome::kWarning);
  budget.warn_share = 9600;
  CHECK(judge_profile(budget, profile)[0].outcome == Outcome::kOk);
}

TEST_CASE("an expectation fails on both sides") {
  const Profile profile = scene_profile();
  const uint64_t peak = profile.devices[0].totals.peak_bytes;
  Budget budget;
  budget.limits.emplace_back();
  const auto reason = [&](uint64_t least, uint64_t largest) {
    budget.limits[0].expect = Expectation{least, largest};
    return judge_profile(budget, profile)[0].reason;
  };
  CHECK(reason(peak, peak) == Reason::kNone);
  CHECK(reason(peak + 1, peak + 2) == Reason::kBelowExpected);
  CHECK(reason(0, peak - 1) == Reason::kAboveExpected);
}

TEST_CASE("lines come device by device, metric by metric, then site by site") {
  const Profile profile = scene_profile();
  Budget budget;
  budget.subtrees = {{{"main", "", ""}, "main", {}}};
  budget.limits = {most(Metric::kAllocations, 1, 0), most(Metric::kTemporary, 1), most(Metric::kLeaked, 1),
                   most(Metric::kPeak, 1, 0),        most(Metric::kTotal, 1),     most(Metric::kPeak, 1)};
  budget.limits.push_back(most(Metric::kPeak, 1));
  budget.limits.back().subject.device = "cuda:0";
  std::vector<std::string> order;
  for (const Subject& subject : find_subjects(budget, profile, false))
    order.push_back(subject.device + " " + metric_word(subject.metric) + (subject.subtree == 0 ? " main" : ""));
  CHECK(order == std::vector<std::string>{"host peak", "host leaked", "host total", "host temporary", "cuda:0 peak",
                                          "host peak main", "host allocations main"});
}

TEST_CASE("a site is everything below the frames that match") {
  const Profile profile = scene_profile();
  Budget budget;
  budget.subtrees = {{{"load_scene", "", ""}, "load_scene", {}},
                     {{"", "", "src/tiles/*"}, "tiles", {}},
                     {{"std::vector*", "", ""}, "std::vector*", {}}};
  budget.limits = {most(Metric::kPeak, 0, 0), most(Metric::kPeak, 0, 1), most(Metric::kAllocations, 0, 2)};
  const std::vector<Judged> lines = judge_profile(budget, profile);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].value == 1241 * kMiB);  // load_scene allocates by build_index; csv rows are gone at the peak
  CHECK(lines[1].value == 402 * kMiB);
  CHECK(lines[2].value == 1'204'118);
  CHECK(lines[2].subtree == "std::vector*");
  REQUIRE(lines[0].culprit);
  CHECK(lines[0].culprit->function == "build_index");
}

TEST_CASE("known leaks do not count") {
  Profile profile = scene_profile();
  Budget budget;
  budget.limits = {most(Metric::kLeaked, 0)};
  CHECK(judge_profile(budget, profile)[0].value == 3'418'000);
  SuppressionRule rule;
  rule.frames = {{"leak_cache", "", ""}};
  mark_suppressed({rule}, &profile);
  const Judged line = judge_profile(budget, profile)[0];
  CHECK(line.value == 0);
  CHECK(line.outcome == Outcome::kOk);
}

TEST_CASE("the temporary share is of the allocations, rounded up") {
  const Profile profile = scene_profile();
  const DeviceTotals& totals = profile.devices[0].totals;
  Budget budget;
  budget.limits = {most(Metric::kTemporary, 0)};
  budget.limits[0].subject.is_share = true;
  const uint64_t expected = (totals.temporary_blocks * 10'000 + totals.total_blocks - 1) / totals.total_blocks;
  CHECK(judge_profile(budget, profile)[0].value == expected);
}

TEST_CASE("growth over the baseline is allowed up to tolerance or slack, whichever is more") {
  const Profile base = scene_profile();
  Profile grown = scene_profile();
  Site& site = grown.devices[0].sites[0];
  const uint64_t more = 60 * kMiB;  // of 1,915 MiB: 3.1 %
  site.numbers.peak_bytes += more;
  grown.devices[0].totals.peak_bytes += more;
  Budget budget;
  const auto outcome = [&] { return line_of(judge_profile(budget, grown, &base), "host", Metric::kPeak).outcome; };
  CHECK(outcome() == Outcome::kFail);
  budget.tolerance_share = 400;
  CHECK(outcome() == Outcome::kOk);
  budget.tolerance_share = 0;
  budget.slack_bytes = more;
  CHECK(outcome() == Outcome::kOk);
  budget.slack_bytes = more - 1;
  CHECK(outcome() == Outcome::kFail);

  const std::vector<Judged> lines = judge_profile(budget, grown, &base);
  const Judged& peak = line_of(lines, "host", Metric::kPeak);
  CHECK(peak.reason == Reason::kOverBaseline);
  REQUIRE(peak.culprit);
  CHECK(peak.culprit->is_growth);
  CHECK(peak.culprit->function == "build_index");
  CHECK(peak.culprit->value == more);
  CHECK(line_of(lines, "cuda:0", Metric::kPeak).outcome == Outcome::kOk);
  // What shrinks is no failure.
  CHECK(line_of(judge_profile(budget, base, &grown), "host", Metric::kPeak).outcome == Outcome::kOk);
}

TEST_CASE("of several runs each number is judged by its median") {
  CHECK(median({}) == 0);
  CHECK(median({5}) == 5);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({UINT64_MAX, UINT64_MAX - 2}) == UINT64_MAX - 1);
  Budget budget;
  budget.limits = {most(Metric::kPeak, 10), most(Metric::kLeaked, 10)};
  Evidence evidence;
  evidence.subjects = {budget.limits[0].subject, budget.limits[1].subject};
  evidence.runs = {{100, 1}, {1, 100}, {2, 100}};
  const std::vector<Judged> lines = judge(budget, evidence);
  CHECK(lines[0].value == 2);
  CHECK(lines[0].outcome == Outcome::kOk);
  CHECK(lines[1].value == 100);
  CHECK(lines[1].outcome == Outcome::kFail);
}

TEST_CASE("a crash and an incomplete profile are never judged") {
  Profile profile = scene_profile();
  CHECK(find_run_state(profile).trouble == Trouble::kNone);
  profile.run.end = {EndKind::kExited, 3};
  CHECK(find_run_state(profile).trouble == Trouble::kProgramFailed);
  profile.run.end = {EndKind::kSignaled, 11};
  CHECK(find_run_state(profile).trouble == Trouble::kProgramFailed);
  profile.run.end = {EndKind::kExited, 0};
  profile.run.counters.lost = 1;
  CHECK(find_run_state(profile).trouble == Trouble::kIncomplete);
  CHECK(find_run_state(profile).reason == "events lost: 1");
  profile.run.counters.lost = 0;
  profile.run.complete = false;
  CHECK(find_run_state(profile).trouble == Trouble::kIncomplete);
  profile.run.complete = true;
  for (const EndKind kind : {EndKind::kExec, EndKind::kDetached, EndKind::kRunning}) {
    profile.run.end = {kind, 0};
    CHECK(find_run_state(profile).trouble == Trouble::kIncomplete);
  }
  // A failure says more than what is missing besides.
  profile.run.end = {EndKind::kSignaled, 9};
  profile.run.counters.lost = 1;
  CHECK(find_run_state(profile).trouble == Trouble::kProgramFailed);
}

TEST_CASE("what a started process's exit code means its parent knows; a crash is one all the same") {
  Profile profile = scene_profile();
  const auto trouble = [&](EndKind kind, int status) {
    profile.run.end = {kind, status};
    return find_started_state(profile).trouble;
  };
  CHECK(trouble(EndKind::kExited, 1) == Trouble::kNone);
  CHECK(trouble(EndKind::kSignaled, 15) == Trouble::kNone);
  CHECK(trouble(EndKind::kSignaled, 11) == Trouble::kProgramFailed);
  CHECK(trouble(EndKind::kSignaled, 9) == Trouble::kProgramFailed);  // it may be the kernel's, for want of memory
  CHECK(trouble(EndKind::kRunning, 0) == Trouble::kIncomplete);
  profile.run.counters.lost = 1;
  CHECK(trouble(EndKind::kExited, 1) == Trouble::kIncomplete);
  CHECK(trouble(EndKind::kSignaled, 15) == Trouble::kIncomplete);
}

TEST_CASE("of several processes one has to have what a limit is about") {
  Profile host = scene_profile();
  host.devices.resize(1);
  const Profile both = scene_profile();
  Budget budget;
  budget.limits = {most(Metric::kPeak, 1)};
  budget.limits[0].subject.device = "cuda:0";
  std::vector<Problem> warnings;
  BudgetFit fit(budget);
  REQUIRE(fit.add(host, "a.json").ok());
  CHECK(fit.finish(&warnings).problem().id == "HP145");
  REQUIRE(fit.add(both, "b.json").ok());
  CHECK(fit.finish(&warnings).ok());
  CHECK(warnings.empty());
  // A line for the one that has it, none for the other.
  CHECK(judge_profile(budget, host).empty());
  CHECK(judge_profile(budget, both).size() == 1);
}

TEST_CASE("blocks have a slack of ten over the baseline, and none where bytes have none") {
  const Profile base = scene_profile();
  Profile more = scene_profile();
  Site& site = more.devices[0].sites[0];
  site.numbers.total_blocks += 10;
  Budget budget;
  budget.tolerance_share = 0;
  const auto outcome = [&] {
    return line_of(judge_profile(budget, more, &base), "host", Metric::kAllocations).outcome;
  };
  CHECK(outcome() == Outcome::kOk);
  site.numbers.total_blocks += 1;
  CHECK(outcome() == Outcome::kFail);
  site.numbers.total_blocks -= 10;
  CHECK(outcome() == Outcome::kOk);
  budget.slack_bytes = 0;
  CHECK(outcome() == Outcome::kFail);
}

TEST_CASE("a history has the medians of the runs") {
  std::vector<Profile> runs(3, scene_profile());
  runs[1].devices[0].sites[0].numbers.total_bytes += 1000;
  runs[2].devices[0].sites[0].numbers.total_bytes += 5000;
  runs[2].has_lifetimes = false;
  Verdict verdict;
  verdict.name = "render";
  verdict.devices = measure_devices(runs);
  const HistoryEntry record = make_history_entry(runs[2], runs[2].devices[0], verdict, "c0ffee");
  const HistoryEntry middle = make_history_entry(runs[1], runs[1].devices[0], "render", "c0ffee");
  CHECK(record.metrics[metric_index(Metric::kTotal)] == middle.metrics[metric_index(Metric::kTotal)]);
  CHECK_FALSE(record.metrics[metric_index(Metric::kPeak)]);  // a run that does not know it says nothing
  CHECK(record.ok == true);
  CHECK(record.name == "render");
}

TEST_CASE("a sum of profiles is as its worst part, and its peak the largest process's") {
  Profile profile = scene_profile();
  profile.run.end = {EndKind::kUnknown, 0};
  MergedPart part;
  part.device = "host";
  part.file = "a.json";
  part.end = {EndKind::kExited, 0};
  part.peak_bytes = 700;
  profile.merged = {part, part};
  profile.merged[1].peak_bytes = 900;
  CHECK(find_run_state(profile).trouble == Trouble::kNone);
  CHECK(find_run_state(profile).end.kind == EndKind::kExited);
  CHECK(measure({}, {{Metric::kPeak}}, profile)[0] == 900);
  profile.merged[1].end.kind = EndKind::kUnknown;
  CHECK(find_run_state(profile).end.kind == EndKind::kUnknown);
  profile.merged[1].complete = false;
  CHECK(find_run_state(profile).trouble == Trouble::kIncomplete);
  profile.merged[0].end = {EndKind::kExited, 1};
  CHECK(find_run_state(profile).trouble == Trouble::kProgramFailed);
  CHECK(find_run_state(profile).end.status == 1);

  std::vector<Problem> warnings;
  Budget budget;
  budget.subtrees = {{{"main", "", ""}, "main", {}}};
  budget.limits = {most(Metric::kPeak, 1, 0)};
  CHECK(check_budget(budget, profile, "sum.json", &warnings).problem().id == "HP148");
}

TEST_CASE("a budget that the profile cannot answer is refused") {
  const Profile profile = scene_profile();
  std::vector<Problem> warnings;
  Budget budget;
  budget.limits = {most(Metric::kPeak, 1)};
  budget.limits[0].subject.device = "cuda0";
  CHECK(check_budget(budget, profile, "x.json", &warnings).problem().id == "HP145");
  budget.limits[0].is_default = true;
  budget.name = "render";
  const Result<Done> unjudged = check_budget(budget, profile, "x.json", &warnings);
  REQUIRE_FALSE(unjudged.ok());
  CHECK(unjudged.problem().id == "HP141");
  CHECK(unjudged.problem().what.starts_with("no limit is set for the devices that render used: host"));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].id == "HP146");
  CHECK(find_subjects(budget, profile, false).empty());

  warnings.clear();
  budget.limits.push_back(most(Metric::kPeak, 1));  // another limit is judged
  CHECK(check_budget(budget, profile, "x.json", &warnings).ok());
  budget.limits.pop_back();
  budget.baseline = "base.json";  // or what grew is
  CHECK(check_budget(budget, profile, "x.json", &warnings).ok());
  budget.baseline.clear();
  REQUIRE(warnings.size() == 2);
  CHECK((warnings[0].id == "HP146" && warnings[1].id == "HP146"));

  warnings.clear();
  budget.limits = {most(Metric::kPeak, 1, 0), most(Metric::kPeak, 0, 1)};
  budget.subtrees = {{{"no_such", "", ""}, "no_such", {"b.toml", 4}}, {{"nor_this", "", ""}, "nor_this", {}}};
  CHECK(check_budget(budget, profile, "x.json", &warnings).ok());
  REQUIRE(warnings.size() == 1);  // that of 0 is kept best by what never appears
  CHECK(warnings[0].id == "HP147");
  CHECK(warnings[0].what.find("b.toml, line 4") == 0);

  Profile foreign = scene_profile();
  foreign.dialect = Dialect::kValgrind;
  budget.limits = {most(Metric::kTemporary, 1)};
  budget.subtrees.clear();
  CHECK(check_budget(budget, foreign, "dhat.out", &warnings).problem().id == "HP067");
}

TEST_CASE("a baseline is of the same program and the same tool") {
  const Profile profile = scene_profile();
  Profile other = scene_profile();
  CHECK(check_baseline(profile, other, "base.json").ok());
  other.run.executable = "/somewhere/else/render";
  CHECK(check_baseline(profile, other, "base.json").ok());
  other.run.executable = "/opt/server";
  CHECK(check_baseline(profile, other, "base.json").problem().id == "HP156");
  other.dialect = Dialect::kDhatRs;
  CHECK(check_baseline(profile, other, "base.json").problem().id == "HP157");
}
