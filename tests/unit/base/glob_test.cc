// tests/unit/base/glob_test.cc: what * and ? stand for, and that nothing else is special.
#include "cli/base/glob.h"

#include <catch2/catch.hpp>

#include <string>

using heapprof::cli::glob_matches;

TEST_CASE("a glob fits the whole text") {
  CHECK(glob_matches("", ""));
  CHECK_FALSE(glob_matches("", "a"));
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("main", "main"));
  CHECK_FALSE(glob_matches("main", "main2"));
  CHECK_FALSE(glob_matches("main", "domain"));
  CHECK(glob_matches("lib*.so*", "libc.so.6"));
  CHECK_FALSE(glob_matches("lib*.so", "libc.so.6"));
  CHECK(glob_matches("?ain", "main"));
  CHECK_FALSE(glob_matches("?ain", "ain"));
  CHECK(glob_matches("*a*b*c", "xxaxxbxxbc"));
  CHECK_FALSE(glob_matches("*a*b*c", "xxaxxcxxb"));
}

TEST_CASE("brackets and backslashes stand for themselves") {
  CHECK(glob_matches("A::operator[]", "A::operator[]"));
  CHECK_FALSE(glob_matches("[ab]", "a"));
  CHECK(glob_matches("a\\*", "a\\bc"));
}

TEST_CASE("many stars end in time") {
  std::string glob;
  for (int i = 0; i < 300; ++i) glob += "*a";
  CHECK_FALSE(glob_matches(glob + "b", std::string(20'000, 'a')));
}
