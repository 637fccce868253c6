// tests/unit/model/budget_update_test.cc: a raised limit is written where it stands in the file, reads back as kept,
// and changes nothing else.
#include "cli/model/judge/budget_update.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace heapprof::cli;

namespace {

// The words between quotation marks read as the value that was promised, which is enough.
void check_source(const Subject& subject, uint64_t at_least, const std::string& source) {
  uint64_t value = 0;
  CHECK(limit_source(subject, at_least, &value) == source);
  CHECK(value >= at_least);
  const std::string words = source.front() == '"' ? source.substr(1, source.size() - 2) : source;
  Subject same = subject;
  const Result<uint64_t> read = parse_amount(words, &same);
  REQUIRE(read.ok());
  CHECK(*read == value);
}

Judged over(uint64_t value, uint64_t raised, ValueText text) {
  Judged line;
  line.value = value;
  line.most = 1;
  line.reason = Reason::kOverLimit;
  line.outcome = Outcome::kFail;
  line.raised_most = raised;
  line.text = text;
  return line;
}

}  // namespace

TEST_CASE("a raised limit is rounded up to what is read back") {
  const Subject peak{Metric::kPeak};
  check_source(peak, 0, "\"0 B\"");
  check_source(peak, 1023, "\"1023 B\"");
  check_source(peak, 1025, "\"1.01 KiB\"");
  check_source(peak, 6237, "\"6.10 KiB\"");
  check_source(peak, (40ull << 20) + 1, "\"40.1 MiB\"");
  check_source(peak, (400ull << 20) + 1, "\"401 MiB\"");
  check_source(peak, (1023ull << 20) + 1, "\"1024 MiB\"");
  check_source(peak, 7ull << 40, "\"7.00 TiB\"");
  check_source({Metric::kAllocations}, 999, "999");
  check_source({Metric::kAllocations}, 1'234'567, "1_234_567");
  check_source({Metric::kTemporary, "host", true}, 6051, "\"60.51 %\"");
}

TEST_CASE("limits are raised where they stand, and nothing else changes") {
  const std::string text = "peak = \"1 B\"  # why\nleaked = \"1 B\"\n";
  std::vector<Verdict> verdicts(2);
  verdicts[0].judged = {over(90, 100, {7, 12}), over(5, 6, {29, 34})};
  verdicts[1].judged = {over(190, 200, {7, 12}), over(5, 6, {})};  // of the same limit; of a flag
  verdicts[1].judged.push_back(over(7, 8, {29, 34}));
  verdicts[1].judged.back().is_default = true;
  const RaisedLimits raised = raise_limits(text, &verdicts);
  CHECK(raised.count == 2);
  CHECK(raised.text == "peak = \"200 B\"  # why\nleaked = \"6 B\"\n");
  CHECK(verdicts[0].judged[0].outcome == Outcome::kOk);
  CHECK(verdicts[0].judged[0].most == 200);
  CHECK(verdicts[1].judged[0].outcome == Outcome::kOk);
  CHECK(verdicts[1].judged[1].outcome == Outcome::kFail);
  CHECK(verdicts[1].judged[2].outcome == Outcome::kFail);
}

TEST_CASE("a raised limit is held against its own expectation, the share that warns, and the baseline") {
  const std::string text = "peak = \"1 B\"\n";
  const auto judged_anew = [&](const std::function<void(Judged*)>& change) {
    std::vector<Verdict> verdicts(1);
    verdicts[0].judged = {over(90, 100, {7, 12})};
    verdicts[0].judged[0].culprit.emplace();
    change(&verdicts[0].judged[0]);
    CHECK(raise_limits(text, &verdicts).count == 1);
    return verdicts[0].judged[0];
  };
  const Judged kept = judged_anew([](Judged*) {});
  CHECK(kept.outcome == Outcome::kOk);
  CHECK_FALSE(kept.culprit);
  const Judged above = judged_anew([](Judged* line) { line->expect = Expectation{10, 89}; });
  CHECK(above.reason == Reason::kAboveExpected);
  CHECK(above.outcome == Outcome::kFail);
  CHECK(above.culprit);
  const Judged below = judged_anew([](Judged* line) { line->expect = Expectation{91, 95}; });
  CHECK(below.reason == Reason::kBelowExpected);
  CHECK_FALSE(below.culprit);
  const Judged near = judged_anew([](Judged* line) { line->warn_share = 8000; });
  CHECK(near.reason == Reason::kNearLimit);
  CHECK(near.outcome == Outcome::kWarning);
  const Judged grown = judged_anew([](Judged* line) {
    line->base = 70;
    line->base_most = 80;
  });
  CHECK(grown.reason == Reason::kOverBaseline);
}
