// tests/unit/check/commit_test.cc: who is asked for the commit, and in which order.
#include "cli/check/check_outputs.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>

using namespace heapprof::cli;

namespace {

std::string commit_with(const std::map<std::string, std::string>& variables) {
  return commit_of_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("CI says which commit it is") {
  CHECK(commit_with({}).empty());
  CHECK(commit_with({{"GITHUB_SHA", "abc"}}) == "abc");
  CHECK(commit_with({{"CI_COMMIT_SHA", "def"}}) == "def");
  CHECK(commit_with({{"GITHUB_SHA", ""}, {"CI_COMMIT_SHA", "def"}}) == "def");
  CHECK(commit_with({{"GITHUB_SHA", "abc"}, {"CI_COMMIT_SHA", "def"}}) == "abc");
}

TEST_CASE("a commit that is given counts before all others") {
  setenv("GITHUB_SHA", "from-ci", 1);
  CHECK(find_commit("mine") == "mine");
  CHECK(find_commit("") == "from-ci");
  unsetenv("GITHUB_SHA");
}
