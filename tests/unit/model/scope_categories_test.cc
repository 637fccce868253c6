// tests/unit/model/scope_categories_test.cc: scopes get categories by globs, and what the categories came to adds up to
// what all scopes did.
#include "cli/model/analysis/scope_categories.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace heapprof::cli;

namespace {

Scope scope(uint32_t parent, const std::string& category, const std::string& name, uint64_t own_time_ns = 1) {
  Scope result;
  result.parent = parent;
  result.category = category;
  result.name = name;
  result.begun = result.ended = 1;
  result.own_time_ns = own_time_ns;
  result.memory = {{"host", 10 * own_time_ns, own_time_ns, 3, 1, 99}};
  return result;
}

std::map<std::string, std::string> by_name(const Scopes& scopes) {
  std::map<std::string, std::string> categories;
  for (const Scope& one : scopes.scopes) categories[one.name] += one.category + ";";
  return categories;
}

}  // namespace

TEST_CASE("a scope without a category gets that of the first rule that fits its name") {
  Scopes scopes;
  scopes.scopes = {scope(0, "", "layer"), scope(1, "", "qkv_proj"), scope(1, "", "masked_softmax"),
                   scope(1, "mine", "softmax"), scope(0, "", "other")};
  give_categories({{"attention", {"qkv*", "*softmax*"}}, {"late", {"q*", "layer"}}}, &scopes);
  CHECK(by_name(scopes) == std::map<std::string, std::string>{{"layer", "late;"},
                                                              {"qkv_proj", "attention;"},
                                                              {"masked_softmax", "attention;"},
                                                              {"softmax", "mine;"},
                                                              {"other", ";"}});
}

TEST_CASE("a glob with a category takes its place, and one with a path is for that path") {
  Scopes scopes;
  scopes.scopes = {scope(0, "NCCL", "reduce"), scope(0, "", "serve"), scope(2, "", "step"), scope(0, "", "step")};
  give_categories({{"network", {"NCCL: *"}}, {"inner", {"serve > st*"}}}, &scopes);
  CHECK(by_name(scopes) ==
        std::map<std::string, std::string>{{"reduce", "network;"}, {"serve", ";"}, {"step", ";inner;"}});
}

TEST_CASE("scopes that have one name and one category then are one") {
  Scopes scopes;
  scopes.scopes = {scope(0, "", "a", 5), scope(0, "x", "a", 7)};
  give_categories({{"x", {"a"}}}, &scopes);
  REQUIRE(scopes.scopes.size() == 1);
  CHECK(scopes.scopes[0].own_time_ns == 12);
}

TEST_CASE("what categories came to is all that scopes did, whatever the rules") {
  std::mt19937 random(GENERATE(range(1u, 21u)));
  Scopes scopes;
  uint64_t time_ns = 0, bytes = 0;
  for (uint32_t i = 0; i < 80; ++i) {
    scopes.scopes.push_back(scope(i == 0 ? 0 : static_cast<uint32_t>(random() % (i + 1)), random() % 3 == 0 ? "c" : "",
                                  std::string(1, static_cast<char>('a' + random() % 6)), random() % 1000));
    time_ns += scopes.scopes.back().own_time_ns;
    bytes += scopes.scopes.back().memory[0].allocated_bytes;
  }
  const std::vector<CategoryRule> rules = {{"one", {"a", "b"}}, {"two", {"?"}}, {"none", {"zzz"}}};
  if (random() % 2 == 0) give_categories(rules, &scopes);
  uint64_t sum_ns = 0, sum_bytes = 0, count = 0;
  bool has_none = false;
  for (const CategorySum& sum : sum_categories(scopes, rules)) {
    sum_ns += sum.own_time_ns;
    count += sum.scopes;
    for (const ScopeMemory& memory : sum.memory) sum_bytes += memory.allocated_bytes;
    if (sum.category == "none") has_none = sum.scopes == 0;
  }
  CHECK(sum_ns == time_ns);
  CHECK(sum_bytes == bytes);
  CHECK(count == scopes.scopes.size());
  CHECK(has_none);  // a rule that fits nothing is seen
}
