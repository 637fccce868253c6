// tests/unit/read/read_categories_test.cc: files of categories, and the mistakes in them, each with its line.
#include "cli/read/read_categories.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("a file of categories is read in its order") {
  const auto rules = parse_categories(
      "version = 1\n[[category]]\nname = \"attention\"\nscopes = [\"qkv*\", \"*softmax*\"]\n"
      "[[category]]\nscopes = [\"x\"]\nname = \"z\\u001b\"\n",
      "c.toml");
  REQUIRE(rules.ok());
  REQUIRE(rules->size() == 2);
  CHECK((*rules)[0].name == "attention");
  CHECK((*rules)[0].globs == std::vector<std::string>{"qkv*", "*softmax*"});
  CHECK((*rules)[1].name == "z\\x1b");
}

TEST_CASE("a mistake in a file of categories is told with its line, a fix and another way") {
  const std::pair<const char*, const char*> mistakes[] = {
      {"", "c.toml, line 1: there is no [[category]] in it"},
      {"version = 2\n", "c.toml, line 1: this heapprof knows version = 1"},
      {"[[category]]\nname = \"a\"\n", "c.toml, line 1: 'a' is for no scope"},
      {"[[category]]\nname = \"a\"\nscopes = []\n", "c.toml, line 1: 'a' is for no scope"},
      {"\n[[category]]\nscopes = [\"a\"]\n", "c.toml, line 2: the category has no name"},
      {"[[category]]\nname = \"a\"\nscopes = \"b\"\n",
       "c.toml, line 3: scopes takes globs in brackets: scopes = [\"qkv*\"]"},
      {"[[category]]\nname = \"a\"\nscopes = [7]\n", "c.toml, line 3: each of scopes is a glob in quotes"},
      {"[[category]]\nname = \"a\"\nscopes = [\"\"]\n", "c.toml, line 3: each of scopes is a glob in quotes"},
      {"[[category]]\nname = \"a\"\nscope = [\"b\"]\n", "c.toml, line 3: unknown key 'scope'"},
      {"[category]\nname = \"a\"\n", "c.toml, line 1: write category as [[category]]"},
      {"[[categories]]\n", "c.toml, line 1: unknown key 'categories'"},
  };
  for (const auto& [text, what] : mistakes) {
    const auto rules = parse_categories(text, "c.toml");
    REQUIRE_FALSE(rules.ok());
    INFO(text);
    CHECK(rules.problem().what.find(what) == 0);
    CHECK(rules.problem().id == "HP222");
    CHECK(rules.problem().fix == "write it as man heapprof-report shows");
  }
  CHECK(read_categories("/no/such/file").problem().id == "HP221");
  CHECK_FALSE(parse_categories("[[category]\n", "c.toml").ok());
}
