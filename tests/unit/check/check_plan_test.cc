// tests/unit/check/check_plan_test.cc: names of files that hold one budget each, and which budget judges a process that
// the program started.
#include "cli/check/check_plan.h"

#include <catch2/catch.hpp>

#include <set>

using namespace heapprof::cli;

TEST_CASE("a plain name is its own word, and no two names have one word") {
  CHECK(file_word("render-small_2.x") == "render-small_2.x");
  std::set<std::string> words;
  const std::string longest(100, 'x');
  const std::vector<std::string> names = {"a b", "a_b", "a/b",   "a:b",         ".ab",        "_ab",
                                          "",    "_",   longest, longest + "y", longest + "z"};
  for (const std::string& name : names) {
    const std::string word = file_word(name);
    CAPTURE(name, word);
    CHECK(words.insert(word).second);
    CHECK(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.") == std::string::npos);
    CHECK_FALSE(word.starts_with('.'));
    CHECK(word.size() < 120);
  }
}

TEST_CASE("a started process is judged by the budget with its command, else by that of its program") {
  Budget parent;
  parent.name = "suite";
  parent.command = {"sh", "run.sh"};
  parent.baseline = "base.json";
  parent.limits.emplace_back();
  CheckOptions options;
  const Result<CheckPlan> plan = CheckPlan::make(options);
  REQUIRE(plan.ok());
  const Result<Budget> budget = plan->budget_of_started(parent, {"/usr/bin/parser", "x"});
  REQUIRE(budget.ok());
  CHECK(budget->name == "suite.parser");
  CHECK(budget->baseline.empty());
  CHECK(budget->limits.size() == 1);
  CHECK_FALSE(plan->has_own_budget(parent, {"/usr/bin/parser", "x"}));
}
