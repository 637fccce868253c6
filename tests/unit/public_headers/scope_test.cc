// tests/unit/public_headers/scope_test.cc: heapprof/heapprof.hpp: scopes as objects, names that are interned once, and
// statistics as values.
#include "tests/unit/public_headers/fake_agent.h"

#include <catch2/catch.hpp>
#include <heapprof/heapprof.hpp>
#include <malloc.h>

#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace heapprof {
namespace {

static_assert(!std::is_copy_constructible_v<scope> && !std::is_copy_assignable_v<scope>);

TEST_CASE("without a profiler there are no statistics, and scopes do nothing") {
  CHECK_FALSE(is_active());
  CHECK_FALSE(stats());
  CHECK_FALSE(thread_stats());
  static heapprof_name name = {"part", "name", 0};
  scope one(name);
  one.items(7);
  one.leave();
  one.enter();
  CHECK(one.items() == 7);
}

TEST_CASE("statistics are values") {
  FakeAgent agent;
  CHECK(is_active());
  agent.allocate(10);
  agent.allocate(30, "cuda:2");
  REQUIRE(stats());
  CHECK(stats()->live_bytes == 10);
  CHECK(stats("cuda:2")->live_bytes == 30);
  CHECK_FALSE(stats("gpu"));
  CHECK(thread_stats()->total_blocks == 2);
  agent.answer(HEAPPROF_UNAVAILABLE);
  CHECK_FALSE(stats());
}

TEST_CASE("a scope lasts as long as its object") {
  FakeAgent agent;
  static heapprof_name name = {nullptr, "outer", 0};
  {
    scope outer(name);
    CHECK(agent.open_scopes() == 1);
    {
      scope inner(intern("part", "inner"));
      CHECK(agent.open_scopes() == 2);
      CHECK(agent.last_scope() == std::string("inner"));
      CHECK(agent.last_category() == std::string("part"));
      inner.items(41);
    }
    CHECK(agent.last_items() == 41);
    outer.leave();
    CHECK(agent.open_scopes() == 0);
    outer.enter();
    CHECK(agent.open_scopes() == 1);
    outer.end();
    CHECK(agent.open_scopes() == 0);
  }
  CHECK(agent.open_scopes() == 0);
}

TEST_CASE("a name is interned once, by category and text") {
  heapprof_name& one = intern("part", std::string("na") + "me");
  CHECK(&one == &intern("part", "name"));
  CHECK(&one != &intern("name"));
  CHECK(&one != &intern("partn", "ame"));
  CHECK(&intern("name") == &intern("", "name"));
  CHECK(intern("name").category == nullptr);
  CHECK(intern("").text == std::string());
  const std::string longer(500, 'x');
  CHECK(intern(longer, longer).text == std::string(120, 'x'));
  CHECK(intern(longer, longer).category == std::string(120, 'x'));
}

TEST_CASE("names of many threads are the same, and none is on the heap") {
  constexpr int kNames = 5000;
  std::vector<std::vector<heapprof_name*>> seen(4, std::vector<heapprof_name*>(kNames));
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kNames; ++i) {
        char text[32];
        const int length = snprintf(text, sizeof text, "name %d", i);
        mine[static_cast<size_t>(i)] = &intern("many", {text, static_cast<size_t>(length)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : seen) CHECK(other == seen[0]);
  CHECK(seen[0][4711]->text == std::string("name 4711"));
  const auto before = mallinfo2().uordblks;
  for (int i = 0; i < 100; ++i) {
    char text[32];
    const int length = snprintf(text, sizeof text, "fresh %d", i);
    intern("heap", {text, static_cast<size_t>(length)});
  }
  CHECK(mallinfo2().uordblks == before);
}

}  // namespace
}  // namespace heapprof
