// tests/unit/model/budget_test.cc: amounts, shares and expectations as people write them, and which command a budget is
// for.
#include "cli/model/judge/budget.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

uint64_t amount(Metric metric, const char* text, bool is_share = false) {
  Subject subject{metric};
  const Result<uint64_t> value = parse_amount(text, &subject);
  CAPTURE(text);
  REQUIRE(value.ok());
  CHECK(subject.is_share == is_share);
  return *value;
}

}  // namespace

TEST_CASE("shares are read in hundredths of a percent") {
  CHECK(parse_share("3 %") == 300);
  CHECK(parse_share("0.5%") == 50);
  CHECK(parse_share("2.25 %") == 225);
  CHECK(parse_share("0 %") == 0);
  for (const char* text : {"", "%", "3", "-3 %", "1.234 %", "1. %", "x %", "99999999999 %"})
    CHECK(parse_share(text) == std::nullopt);
}

TEST_CASE("counts may have underscores between their digits") {
  CHECK(parse_count("2_000_000") == 2'000'000);
  CHECK(parse_count("18446744073709551615") == UINT64_MAX);
  for (const char* text : {"", "_1", "1_", "1__0", "1e6", "-1", "18446744073709551616", "2M"})
    CHECK(parse_count(text) == std::nullopt);
}

TEST_CASE("averages are read in hundredths") {
  CHECK(parse_average("3") == 300u);
  CHECK(parse_average("1_000.5") == 100'050u);
  CHECK(parse_average("0.01") == 1u);
  CHECK(parse_average("184467440737095516.15") == UINT64_MAX);
  for (const char* text :
       {"", ".", "1.", ".5", "1.234", "1.2.3", "-1", "1e3", "1._5", "184467440737095516.16", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_average(text));
  }
}

TEST_CASE("an amount is what its metric counts") {
  CHECK(amount(Metric::kPeak, "512 MiB") == 512u << 20);
  CHECK(amount(Metric::kLeaked, "0 B") == 0);
  CHECK(amount(Metric::kAllocations, "2_000") == 2000);
  CHECK(amount(Metric::kTemporary, "60 %", true) == 6000);
  CHECK(amount(Metric::kTemporary, "60") == 60);
  Subject peak{Metric::kPeak};
  CHECK(parse_amount("512M", &peak).problem().id == "HP053");
  Subject allocations{Metric::kAllocations};
  CHECK_FALSE(parse_amount("12 MiB", &allocations).ok());
  CHECK_FALSE(parse_amount("60 %", &allocations).ok());
}

TEST_CASE("an expectation has two ends") {
  Subject subject{Metric::kPeak};
  const Result<Expectation> share = parse_expectation("1000 B ± 2 %", &subject);
  REQUIRE(share.ok());
  CHECK(share->least == 980);
  CHECK(share->most == 1020);
  const Result<Expectation> absolute = parse_expectation("1 KiB +- 24 B", &subject);
  REQUIRE(absolute.ok());
  CHECK(absolute->least == 1000);
  CHECK(absolute->most == 1048);
  const Result<Expectation> wide = parse_expectation("10 B ± 100 B", &subject);
  REQUIRE(wide.ok());
  CHECK(wide->least == 0);
  CHECK_FALSE(parse_expectation("1000 B", &subject).ok());
  CHECK_FALSE(parse_expectation("1000 B ± much", &subject).ok());
  Subject temporary{Metric::kTemporary};
  const Result<Expectation> points = parse_expectation("60 % ± 5 %", &temporary);
  REQUIRE(points.ok());
  CHECK(points->least == 5500);
  CHECK(points->most == 6500);
}

TEST_CASE("a flag's limit is the host's unless it names a device") {
  const Result<Limit> host = parse_limit_flag("--max-peak", Metric::kPeak, "1KiB");
  REQUIRE(host.ok());
  CHECK(host->subject.device == "host");
  CHECK(host->most == 1024);
  const Result<Limit> cuda = parse_limit_flag("--max-peak", Metric::kPeak, "cuda:0=6GiB");
  REQUIRE(cuda.ok());
  CHECK(cuda->subject.device == "cuda:0");
  for (const char* text : {"host=", "=1KiB", "host", "host=much"})
    CHECK_FALSE(parse_limit_flag("--max-peak", Metric::kPeak, text).ok());
}

TEST_CASE("defaults are for what a budget does not say, metric by metric and device by device") {
  Budget defaults;
  defaults.limits = {{{Metric::kPeak}, 100, {}, {}, false, {}}, {{Metric::kLeaked}, 5, {}, {}, false, {}}};
  defaults.runs = 3;
  Budget budget;
  budget.limits = {{{Metric::kPeak}, 7, {}, {}, false, {}}};
  budget.warn_share = 9000;
  const Budget both = with_defaults(defaults, budget);
  REQUIRE(both.limits.size() == 2);
  CHECK(both.limits[0].most == 7);
  CHECK_FALSE(both.limits[0].is_default);
  CHECK(both.limits[1].subject.metric == Metric::kLeaked);
  CHECK(both.limits[1].is_default);
  CHECK(both.runs == 3);
  CHECK(both.warn_share == 9000);
}

TEST_CASE("a budget is for a command with the same arguments and a program of the same name") {
  Budget budget;
  CHECK_FALSE(is_for_command(budget, {}));
  budget.command = {"./render", "small.usd"};
  CHECK(is_for_command(budget, {"./render", "small.usd"}));
  CHECK(is_for_command(budget, {"/opt/bin/render", "small.usd"}));
  CHECK_FALSE(is_for_command(budget, {"./render", "large.usd"}));
  CHECK_FALSE(is_for_command(budget, {"./render"}));
  CHECK_FALSE(is_for_command(budget, {"./rendr", "small.usd"}));
}
