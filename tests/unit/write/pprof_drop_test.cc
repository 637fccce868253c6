// tests/unit/write/pprof_drop_test.cc: viewers leave out what stands between the program and its allocator, and nothing
// of the program.
#include "cli/write/export/pprof_drop.h"

#include "cli/model/analysis/frame_kind.h"
#include "tests/support/decoded_pprof.h"
#include "tests/support/python_scene.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr std::string_view kMarked = R"(\[system\] .*)";  // all that have the mark

// As pprof's Prune does: at the outermost frame that matches, but for those outside of the first that does not.
test::StackSums pruned(const test::StackSums& sums, const std::string& dropped) {
  std::set<std::string> names;  // the expression is an alternative of quoted names
  std::string name;
  for (size_t i = 0; i <= dropped.size(); ++i) {
    if (i == dropped.size() || dropped[i] == '|') {
      names.insert(name);
      name.clear();
    } else {
      name += dropped[i] == '\\' ? dropped[++i] : dropped[i];
    }
  }
  test::StackSums all;
  for (const auto& [stack, value] : sums) {
    bool has_other = false;
    size_t end = 0;
    for (; end < stack.size(); ++end) {
      const bool is_dropped = names.count(compared_name(stack[end])) == 1 ||
                              (dropped.find(kMarked) != std::string::npos && stack[end].starts_with(kCutMark));
      if (is_dropped && has_other) break;
      has_other = has_other || !is_dropped;
    }
    all[{stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(end)}] += value;
  }
  return all;
}

}  // namespace

TEST_CASE("pprof is told to leave out what stands between the program and its allocator, and nothing of the program") {
  using Step = test::ScenePlan::Step;
  const Step main_{"main", "/src/main.cc", 1};
  const Step load{"load(char const*)", "/src/load.cc", 2};
  const Step each{"void std::for_each<int*, main::{lambda(int)#1}>(int*, int*, main::{lambda(int)#1})", "", 0};
  const Step lambda{"main::{lambda(int)#1}::operator()(int) const", "/src/main.cc", 9};
  const Step vector{"std::vector<int, std::allocator<int> >::reserve(unsigned long)", "", 0};
  const Step mine{"std::vector<Mine, std::allocator<Mine> >::push_back(Mine const&)", "", 0};
  const Step copy{"Mine::Mine(Mine const&)", "/src/mine.cc", 3};
  const Step new_{"operator new(unsigned long)", "", 0};
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 100, n.total_blocks = 1;
  plan.add_site({new_, vector, load, main_}, n);
  plan.add_site({new_, vector, lambda, each, main_}, n);
  plan.add_site({new_, each, main_}, n);
  plan.add_site({new_, mine, load, main_}, n);
  plan.add_site({new_, copy, mine, load, main_}, n);  // push_back calls back into the program, on this stack alone
  const Profile profile = plan.take();
  const test::DecodedPprof decoded = test::decoded_pprof(profile, {});
  CHECK(decoded.dropped == R"(\[system\] .*|operator new|std::vector<int, std::allocator<int> >::reserve)");
  test::StackSums shown = pruned(decoded.sums("peak_space/bytes"), decoded.dropped);
  const auto sum = [&](const std::vector<Step>& innermost_first) {
    std::vector<std::string> names;
    for (const Step& step : innermost_first) names.insert(names.begin(), step.function);
    return shown[names];
  };
  CHECK(sum({load, main_}) == 200);
  CHECK(sum({lambda, each, main_}) == 100);
  CHECK(sum({main_}) == 100);
  CHECK(sum({copy, mine, load, main_}) == 100);
  for (const test::PprofSample& sample : decoded.samples)
    CHECK(sample.labels == std::vector<std::string>{"device", "host"});
}

TEST_CASE("whatever stands on the stacks, no function of the program is left out, and no bytes") {
  const std::vector<std::string> pool = {"main",
                                         "f(int)",
                                         "(anonymous namespace)::g()",
                                         "std::vector<int, std::allocator<int> >::push_back(int const&)",
                                         "std::vector<Mine, std::allocator<Mine> >::push_back(Mine const&)",
                                         "void std::sort<int*>(int*, int*)",
                                         "malloc",
                                         "std::function<void ()>::operator()() const",
                                         "a|b.c*(int)"};
  const std::vector<std::string> leaves = {"malloc", "operator new(unsigned long)", "operator new[](unsigned long)",
                                           "std::vector<long, std::allocator<long> >::reserve(unsigned long)"};
  std::mt19937_64 random(2);
  size_t cut = 0;
  for (int round = 0; round < 100; ++round) {
    test::ScenePlan plan;
    plan.add_device("host");
    const size_t kinds = 3 + random() % (pool.size() - 2);
    for (int i = 0; i < 12; ++i) {
      std::vector<test::ScenePlan::Step> steps;
      for (uint64_t depth = random() % 3; depth > 0; --depth)
        steps.push_back({leaves[random() % leaves.size()], "", 0});
      for (uint64_t depth = 1 + random() % 5; depth > 0; --depth)
        steps.push_back({pool[random() % kinds], "/src/a.cc", 1});
      SizedNumbers n;
      n.total_bytes = n.peak_bytes = 100 + static_cast<uint64_t>(i), n.total_blocks = 1;
      plan.add_site(steps, n);
    }
    const test::DecodedPprof decoded = test::decoded_pprof(plan.take(), {});
    const auto own = [](const std::vector<std::string>& stack) {
      std::vector<std::string> names;
      for (const std::string& name : stack) {
        if (!name.starts_with(kCutMark) && frame_kind(name, "") == FrameKind::kUser) names.push_back(name);
      }
      return names;
    };
    const test::StackSums all = decoded.sums("peak_space/bytes");
    uint64_t before = 0;
    uint64_t after = 0;
    for (const auto& [stack, value] : all) {
      const test::StackSums one = pruned({{stack, value}}, decoded.dropped);
      REQUIRE(one.size() == 1);
      INFO(decoded.dropped);
      CHECK(own(one.begin()->first) == own(stack));
      CHECK_FALSE(one.begin()->first.empty());
      // What is listed first is the program's, where the stack has anything of it.
      if (!own(stack).empty()) CHECK(frame_kind(one.begin()->first.back(), "") == FrameKind::kUser);
      cut += one.begin()->first.size() < stack.size() ? 1 : 0;
      before += value;
      after += one.begin()->second;
    }
    CHECK(before == after);
  }
  CHECK(cut > 100);  // the test is about something
}

TEST_CASE("of a Python program what is listed first are functions of Python") {
  test::PythonScene scene;
  scene.add({test::kNewDict, test::kEvaluate, test::kTrain, test::kEvaluate, test::kMainModule, test::kBytesMain});
  scene.add({test::kNewDict, test::kMainModule, test::kBytesMain});
  const test::DecodedPprof decoded = test::decoded_pprof(scene.take(), {});
  const test::StackSums shown = pruned(decoded.sums("peak_space/bytes"), decoded.dropped);
  std::set<std::string> first;
  for (const auto& [stack, value] : shown) first.insert(stack.back());
  CHECK(first == std::set<std::string>{"train", "<module>"});
}

TEST_CASE("names are compared as pprof compares them") {
  CHECK(compared_name("operator new(unsigned long)") == "operator new");
  CHECK(compared_name("(anonymous namespace)::put(int)") == "(anonymous namespace)::put");
  CHECK(compared_name("a::{lambda()#1}::operator()(int) const") == "a::{lambda");
  CHECK(compared_name("a::operator()(int) const") == "a::operator()");
  CHECK(compared_name("") == "");
  CHECK(compared_name("malloc") == "malloc");
}
