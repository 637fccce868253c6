// tests/unit/read/read_budget_test.cc: a file of budgets is read whole; mistakes are named with their line, and hostile
// files hurt nobody.
#include "cli/read/read_budget.h"

#include <catch2/catch.hpp>

#include <string>

using namespace heapprof::cli;

namespace {

const std::string kHead = "version = 1\n[[budget]]\nname = \"x\"\n";

Problem problem_of(const std::string& text) {
  const Result<BudgetFile> file = parse_budget(text, "b.toml");
  CAPTURE(text);
  REQUIRE_FALSE(file.ok());
  CHECK(file.problem().exit_code == 2);
  return file.problem();
}

}  // namespace

TEST_CASE("a budget's file is read whole") {
  const Result<BudgetFile> file = parse_budget(R"(version = 1
[defaults]
peak = { host = "1 GiB" }
warn_at = "90 %"
tolerance = "3 %"
slack = "64 KiB"
runs = 3
processes = "each"
[[budget]]
name = "render-small"
command = ["./render", "small.usd"]
peak = { host = "512 MiB", "cuda:0" = { expect = "6 GiB ± 2 %", max = "7 GiB" } }
leaked = "0 B"
allocations = 2_000_000
temporary = "60 %"
baseline = "base.json"
message = "ask first"
  [[budget.site]]
  match = "Tile::decode"
  file = "src/*"
  peak = "64 MiB"
  [[budget.site]]
  match = "std::regex*"
  allocations = 0
  [[budget.ignore]]
  leaked = "libGL.so*"
  reason = "driver cache"
)",
                                               "b.toml");
  if (!file) FAIL(file.problem().what);
  CHECK(file->defaults.warn_share == 9000);
  CHECK(file->defaults.tolerance_share == 300);
  CHECK(file->defaults.slack_bytes == 65536);
  CHECK(file->defaults.runs == 3);
  CHECK(file->defaults.processes == ProcessScope::kEach);
  REQUIRE(file->budgets.size() == 1);
  const Budget& budget = file->budgets[0];
  CHECK(budget.name == "render-small");
  CHECK(budget.command == std::vector<std::string>{"./render", "small.usd"});
  CHECK(budget.baseline == "base.json");
  CHECK(budget.message == "ask first");
  REQUIRE(budget.subtrees.size() == 2);
  CHECK(budget.subtrees[0].name == "Tile::decode in src/*");
  CHECK(budget.subtrees[0].frames.function == "Tile::decode");
  CHECK(budget.subtrees[0].frames.file == "src/*");
  REQUIRE(budget.limits.size() == 7);
  size_t found = 0;
  for (const Limit& limit : budget.limits) {
    const Subject& subject = limit.subject;
    if (subject.device == "cuda:0") {
      ++found;
      CHECK(limit.most == uint64_t{7} << 30);
      REQUIRE(limit.expect);
      CHECK(limit.expect->least < uint64_t{6} << 30);
      CHECK(limit.at.line == 12);
    } else if (subject.metric == Metric::kTemporary) {
      ++found;
      CHECK(subject.is_share);
      CHECK(limit.most == 6000);
    } else if (subject.subtree == 1) {
      ++found;
      CHECK(limit.most == 0);
    } else if (subject.metric == Metric::kAllocations) {
      ++found;
      CHECK(limit.most == 2'000'000);
      // --update-budget writes there.
      CHECK(file->text.substr(limit.text.begin, limit.text.end - limit.text.begin) == "2_000_000");
    } else if (subject.subtree == 0) {
      ++found;
      CHECK(file->text.substr(limit.text.begin, limit.text.end - limit.text.begin) == "\"64 MiB\"");
    }
  }
  CHECK(found == 5);
  REQUIRE(budget.ignores.size() == 2);  // a function, or a library of that name
  CHECK(budget.ignores[1].frames[0].module == "libGL.so*");
  CHECK(budget.ignores[1].reason == "driver cache");
}

TEST_CASE("mistakes are named with file and line") {
  const auto what = [](const std::string& rest) { return problem_of(kHead + rest).what; };
  CHECK(what("peek = \"1 B\"") == "b.toml, line 4: unknown key 'peek'; did you mean peak?");
  CHECK(what("colour = 1").find("b.toml, line 4: unknown key 'colour'") == 0);
  CHECK(what("peak = \"512M\"").find("b.toml, line 4: ambiguous '512M'") == 0);
  CHECK(what("peak = -1") == "b.toml, line 4: a limit is not negative");
  CHECK(what("peak = 1.5").find("b.toml, line 4: peak takes") == 0);
  CHECK(what("peak = { max = \"1 B\" }").find("write peak = { host = { max") != std::string::npos);
  CHECK(what("peak = { host = {} }").find("write max or expect") != std::string::npos);
  CHECK(what("peak = {}").find("no device") != std::string::npos);
  CHECK(what("peak = { host = { least = 1 } }").find("unknown key 'least'") != std::string::npos);
  CHECK(what("allocations = \"12 MiB\"").find("b.toml, line 4: allocations takes") == 0);
  CHECK(what("warn_at = 90").find("takes a percentage") != std::string::npos);
  CHECK(what("runs = 0").find("1 to 100") != std::string::npos);
  CHECK(what("processes = \"all\"").find("\"started\" (the program alone) or \"each\"") != std::string::npos);
  CHECK(what("command = \"./x\"").find("takes its words") != std::string::npos);
  CHECK(what("command = [1]").find("text in quotes") != std::string::npos);
  CHECK(what("[[budget.site]]\npeak = 1").find("needs match") != std::string::npos);
  CHECK(what("[[budget.site]]\nmatch = \"f\"").find("no limit is set for 'f'") != std::string::npos);
  CHECK(what("[[budget.ignore]]\nleaked = \"f\"").find("the reason is missing") != std::string::npos);
  CHECK(what("[[budget.ignore]]\nreason = \"f\"").find("an ignore needs") != std::string::npos);
  CHECK(what("[budget.site]\nmatch = \"f\"").find("[[budget.site]]") != std::string::npos);
  CHECK(what("[[budget]]\nname = \"x\"").find("stands in line") != std::string::npos);
  CHECK(problem_of("version = 1\n[[budget]]\npeak = 1").what == "b.toml, line 2: the budget has no name");
  CHECK(problem_of("[defaults]\npeak = 1").what == "b.toml, line 1: version = 1 is missing");
  CHECK(problem_of("version = 2").what == "b.toml, line 1: this heapprof knows version = 1");
  CHECK(problem_of("version = 1\nversion = 1").what.find("b.toml, line 2") == 0);
  CHECK(problem_of("version = ").what.find("b.toml, line 1") == 0);
}

TEST_CASE("ten thousand sites are read, and one more is refused") {
  std::string sites = kHead;
  for (int i = 0; i < 10'000; ++i) sites += "[[budget.site]]\nmatch = \"f" + std::to_string(i) + "\"\npeak = 1\n";
  const Result<BudgetFile> file = parse_budget(sites, "b.toml");
  REQUIRE(file.ok());
  CHECK(file->budgets[0].subtrees.size() == 10'000);
  CHECK(file->budgets[0].limits.size() == 10'000);
  CHECK(file->budgets[0].limits.back().subject.subtree == 9'999);
  CHECK(problem_of(sites + "[[budget.site]]\nmatch = \"g\"\npeak = 1\n").what.find("10,000 sites") !=
        std::string::npos);
}

TEST_CASE("hostile budgets are refused, and hurt nobody") {
  std::string dots = "version = 1\n";
  for (int i = 0; i < 100'000; ++i) dots += "a.";
  CHECK(problem_of(dots + "a = 1").what.find("longer than 4,096") != std::string::npos);
  CHECK(problem_of(std::string(2 << 20, '#')).what.find("1 MiB") != std::string::npos);
  std::string nested = "version = 1\nx = ";
  for (int i = 0; i < 2000; ++i) nested += "[";
  problem_of(nested);
  problem_of(std::string("version = 1\nx = \"\0\"", 19));
  problem_of("version = 1\n\xff\xfe");
  CHECK(problem_of(kHead + "command = [\"a\\u0000b\"]").what.find("text in quotes") != std::string::npos);
  CHECK(read_budget("/no/such.toml").problem().id == "HP142");
  CHECK(read_budget("/").problem().id == "HP142");
}
