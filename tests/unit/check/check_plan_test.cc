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
  const Result<std::vector<Budget>> budgets = plan->budgets_of_started(parent, {"/usr/bin/parser", "x"});
  REQUIRE(budgets.ok());
  REQUIRE(budgets->size() == 1);
  CHECK(budgets->front().name == "suite.parser");
  CHECK(budgets->front().baseline.empty());
  CHECK(budgets->front().limits.size() == 1);
  CHECK_FALSE(plan->is_left_to_others(parent, {"/usr/bin/parser", "x"}));
}
