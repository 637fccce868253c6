// tests/unit/collect/stack_folder_test.cc: deep stacks are folded, each by itself, and their sites are one.
#include "cli/collect/rings/stack_folder.h"

#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/recursion_frame.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace heapprof::cli {
namespace {

using Stack = std::vector<uint32_t>;     // locations, the outermost first
constexpr uint32_t kMarkOf = 1'000'000;  // in a form: a mark before so many folded frames

uint32_t site_of(CallTree& tree, const Stack& stack) {
  uint32_t hash = CallTree::kRootHash;
  uint32_t node = 0;
  for (const uint32_t location : stack) {
    hash = CallTree::hash_step(hash, location);
    node = tree.descend(hash, node, location).node;
  }
  return tree.site_of(node, static_cast<uint32_t>(stack.size()));
}

// The stack of a site as a recording has it, with marks.
struct Recorded {
  Stack form;
  std::vector<uint32_t> frames;  // of the marks, the outermost first
};

Recorded recorded(const CallTree& tree, uint32_t site) {
  constexpr size_t kLocations = 100;
  std::vector<Location> locations(kLocations);
  for (size_t i = 0; i < kLocations; ++i) locations[i] = {0, i};
  const std::vector<StackNode> nodes = tree.folder().recorded_stacks(tree, &locations);
  Recorded result;
  for (uint32_t at = tree.sites()[site].stack; at != 0; at = nodes[at].parent) {
    REQUIRE(nodes[at].parent < at);
    const Location& location = locations[nodes[at].location];
    if (!is_recursion(location)) {
      result.form.push_back(nodes[at].location);
      continue;
    }
    CHECK(first_of_recursion(location.svma) == result.form.back());
    result.form.push_back(kMarkOf);
    result.frames.push_back(frames_of_recursion(location.svma));
  }
  std::reverse(result.form.begin(), result.form.end());
  std::reverse(result.frames.begin(), result.frames.end());
  return result;
}

Stack repeat(const Stack& outer, const Stack& cycle, size_t times, const Stack& inner) {
  Stack stack = outer;
  for (size_t i = 0; i < times; ++i) stack.insert(stack.end(), cycle.begin(), cycle.end());
  stack.insert(stack.end(), inner.begin(), inner.end());
  return stack;
}

TEST_CASE("stacks of a recursion are one site where they are deep, and stay what they are where they are not") {
  CallTree tree;
  const uint32_t deep = site_of(tree, repeat({1, 2}, {3}, 1'200, {4}));
  CHECK(site_of(tree, repeat({1, 2}, {3}, 20'000, {4})) == deep);
  CHECK(recorded(tree, deep).form == Stack{1, 2, kMarkOf, 3, 4});
  CHECK(recorded(tree, deep).frames == std::vector<uint32_t>{20'000});
  const Stack highest = repeat({1, 2}, {3}, kDeepFrames - 3, {4});
  CHECK(recorded(tree, site_of(tree, highest)).form == highest);
  CHECK(site_of(tree, repeat({1, 2}, {3}, kDeepFrames - 2, {4})) == deep);
  CHECK(site_of(tree, repeat({1, 2}, {3}, 1'400, {5})) != deep);
}

TEST_CASE("a deep stack in which nothing comes again is not folded") {
  CallTree tree;
  Stack stack;
  for (uint32_t i = 0; i < 2000; ++i) stack.push_back(i);
  const uint32_t site = site_of(tree, stack);
  uint32_t frames = 0;
  for (uint32_t at = tree.sites()[site].stack; at != 0; at = tree.nodes()[at].parent) ++frames;
  CHECK(frames == 2000);
}

TEST_CASE("functions that call one another are one recursion, whichever of them allocates") {
  CallTree tree;
  const uint32_t in_second = site_of(tree, repeat({1}, {2, 3}, 800, {2, 4}));
  CHECK(recorded(tree, in_second).form == Stack{1, kMarkOf, 2, 3, 4});
  CHECK(recorded(tree, in_second).frames == std::vector<uint32_t>{1'601});
  const uint32_t in_first = site_of(tree, repeat({1}, {2, 3}, 1'000, {5}));
  CHECK(recorded(tree, in_first).form == Stack{1, kMarkOf, 2, 3, 5});
}

TEST_CASE("what comes behind a recursion and does not come again is no part of it") {
  CallTree tree;
  const Recorded two = recorded(tree, site_of(tree, repeat(repeat({1}, {2}, 600, {3, 4}), {5, 6}, 600, {7, 8})));
  CHECK(two.form == Stack{1, kMarkOf, 2, 3, 4, kMarkOf, 5, 6, 7, 8});
  CHECK(two.frames == std::vector<uint32_t>{600, 1'200});
  // It does: all from there on is one recursion.
  Stack stack = repeat(repeat({1}, {2}, 600, {3, 4}), {5, 6}, 600, {7});
  stack.insert(stack.end(), {3, 9});
  CHECK(recorded(tree, site_of(tree, stack)).form == Stack{1, kMarkOf, 2, kMarkOf, 3, 4, 5, 6, 7, 9});
}

TEST_CASE("the innermost frame stands for itself, also where it is one of the recursion's") {
  CallTree tree;
  CHECK(recorded(tree, site_of(tree, repeat({1}, {2, 3}, 800, {2}))).form == Stack{1, kMarkOf, 2, 3, 2});
}

TEST_CASE("a truncated stack has the same form, and a site of its own") {
  CallTree tree;
  const Stack stack = repeat({}, {3}, 1'200, {4});
  const uint32_t site = site_of(tree, stack);
  const uint32_t folded = tree.sites()[site].stack;
  const uint32_t truncated = tree.truncated_site_of(folded, 0);
  uint32_t node = 0;
  uint32_t hash = CallTree::kRootHash;
  for (const uint32_t location : stack) {
    hash = CallTree::hash_step(hash, location);
    node = tree.descend(hash, node, location).node;
  }
  CHECK(tree.truncated_site_of(node, 1'201) == truncated);
  CHECK(tree.truncated_site_of(node, 1'201) == truncated);
  CHECK(truncated != site);
}

// The rule of stack_folder.h, as it is said there.
Stack folded_plainly(const Stack& stack) {
  struct Item {
    uint32_t location;
    int recursion;  // 0: none
  };
  std::vector<Item> form;
  int recursions = 0;
  for (size_t i = 0; i + 1 < stack.size(); ++i) {
    size_t first = 0;
    while (first < form.size() && form[first].location != stack[i]) ++first;
    if (first == form.size()) {
      form.push_back({stack[i], 0});
      continue;
    }
    while (first > 0 && form[first].recursion != 0 && form[first - 1].recursion == form[first].recursion) --first;
    ++recursions;
    for (size_t j = first; j < form.size(); ++j) form[j].recursion = recursions;
  }
  Stack result;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i].recursion != 0 && (i == 0 || form[i - 1].recursion != form[i].recursion)) result.push_back(kMarkOf);
    result.push_back(form[i].location);
  }
  result.push_back(stack.back());
  return result;
}

TEST_CASE("a stack's form depends on that stack alone") {
  std::mt19937 random(7);
  std::vector<Stack> stacks;
  for (int i = 0; i < 60; ++i) {
    // Neighbours share their outer frames, as stacks do.
    Stack stack = stacks.empty() ? Stack() : Stack(stacks.back().begin(), stacks.back().begin() + random() % 1'000);
    const uint32_t first = static_cast<uint32_t>(random() % 80), range = static_cast<uint32_t>(1 + random() % 19);
    while (stack.size() < kDeepFrames + 1 + random() % 200)
      stack.push_back(static_cast<uint32_t>(random() % 40 == 0 ? random() % 99 : first + random() % range));
    stacks.push_back(stack);
  }
  for (int round = 0; round < 2; ++round) {
    CallTree tree;
    for (const Stack& stack : stacks) CHECK(recorded(tree, site_of(tree, stack)).form == folded_plainly(stack));
    std::shuffle(stacks.begin(), stacks.end(), random);
  }
}

}  // namespace
}  // namespace heapprof::cli
