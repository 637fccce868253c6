// tests/unit/model/lost_owners_test.cc: what owns what was lost: how it adds, what of it is one story, and when a
// finding is about an owner and when about a place.
#include "cli/model/analysis/lost_owners.h"

#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const Step kNode{"Node::make()", "/src/node.cc", 12};
const Step kChild{"Child::make(std::shared_ptr<Node>)", "/src/child.cc", 30};
const Step kShared{"std::make_shared<Node>()", "/usr/include/c++/12/bits/shared_ptr.h", 1010};
const Step kMesh{"Mesh::load()", "/src/mesh.cc", 44};
const Step kOther{"other()", "/src/other.cc", 5};

// So many blocks of which all are lost: some alone, the others by way of others.
SizedNumbers lost(uint64_t count, uint64_t each_bytes, uint64_t alone) {
  SizedNumbers n = blocks(count, each_bytes, true);
  n.first_leak_ns = kSecond;
  n.last_leak_ns = 3 * kSecond;
  n.lost_blocks = alone;
  n.lost_bytes = alone * each_bytes;
  n.indirectly_lost_blocks = count - alone;
  n.indirectly_lost_bytes = n.indirectly_lost_blocks * each_bytes;
  return n;
}

// Of the site that was added as the index-th.
uint32_t node_of(Scene* scene, size_t index) { return scene->host().sites[index].node; }

// 40 cycles of a node and a child, which lead to 40 meshes.
Scene cycles() {
  Scene scene;
  scene.add({kShared, kNode, kMain}, lost(40, 100, 40));
  scene.add({kChild, kMain}, lost(40, 80, 0));
  scene.add({kMesh, kMain}, lost(40, 8000, 0));
  scene.profile().run.leak_check.is_asked = true;
  scene.profile().run.leak_check.is_made = true;
  scene.host().lost_owners = {
      {true, 40, 40 * 8180, 120, {{node_of(&scene, 0), 4000, 40}, {node_of(&scene, 1), 3200, 40}}}};
  return scene;
}

std::vector<LostStory> stories_of(Scene* scene) {
  return find_lost_stories(scene->profile(), build_place_tree(scene->profile()), scene->host());
}

std::string function_of(Scene* scene, uint32_t frame) { return scene->profile().frames[frame].function; }

}  // namespace

TEST_CASE("owners of the same stacks add, whatever the order of their parts, and cycles are apart") {
  std::vector<LostOwners> all = {{true, 1, 100, 4, {{5, 20, 1}, {3, 30, 1}}},
                                 {false, 7, 70, 7, {{3, 70, 7}}},
                                 {true, 2, 300, 9, {{3, 50, 2}, {5, 60, 2}}},
                                 {true, 1, 10, 2, {{3, 10, 2}}},
                                 {false, 1, 5, 1, {}},
                                 {false, 2, 6, 2, {}},
                                 {false, 1, 1000, 1, {{9, 8, 1}, {9, 2, 1}}}};
  merge_owners(&all);
  REQUIRE(all.size() == 5);
  CHECK(all[0].bytes == 1000);
  REQUIRE(all[0].parts.size() == 1);
  CHECK(all[0].parts[0].bytes == 10);
  CHECK(all[1].is_cycle);
  CHECK(all[1].owners == 3);
  CHECK(all[1].bytes == 400);
  CHECK(all[1].blocks == 13);
  REQUIRE(all[1].parts.size() == 2);
  CHECK(all[1].parts[0].node == 3);  // 80 B each: by node
  CHECK(all[1].parts[0].bytes == 80);
  CHECK(all[1].parts[1].bytes == 80);
  CHECK_FALSE(all[2].is_cycle);
  CHECK(all[3].bytes == 11);
  CHECK(all[3].parts.empty());
  CHECK(all[4].bytes == 10);
}

TEST_CASE("owners are the same in any order, and once merged they stay as they are") {
  std::mt19937 random(77);
  for (int round = 0; round < 50; ++round) {
    std::vector<LostOwners> all;
    for (int i = 0; i < 30; ++i) {
      LostOwners owners{random() % 2 == 0, 1 + random() % 3, 100 * (random() % 5), 10, {}};
      for (uint64_t part = random() % 3; part > 0; --part)
        owners.parts.push_back({static_cast<uint32_t>(random() % 4), 10 * (random() % 3), random() % 3});
      all.push_back(owners);
    }
    std::vector<LostOwners> shuffled = all;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    merge_owners(&all);
    merge_owners(&shuffled);
    const auto same = [](const std::vector<LostOwners>& a, const std::vector<LostOwners>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LostOwners& x, const LostOwners& y) {
        return x.is_cycle == y.is_cycle && x.owners == y.owners && x.bytes == y.bytes && x.blocks == y.blocks &&
               std::equal(x.parts.begin(), x.parts.end(), y.parts.begin(), y.parts.end(),
                          [](const OwnerPart& p, const OwnerPart& q) {
                            return p.node == q.node && p.bytes == q.bytes && p.blocks == q.blocks;
                          });
      });
    };
    REQUIRE(same(all, shuffled));
    std::vector<LostOwners> again = all;
    merge_owners(&again);
    REQUIRE(same(all, again));
  }
}

TEST_CASE("stacks of one place are one story, and cycles of the same places") {
  Scene scene = cycles();
  scene.add({kNode, kOther, kMain}, lost(10, 100, 10));
  scene.host().lost_owners.push_back(
      {true, 10, 1800, 20, {{node_of(&scene, 3), 1000, 10}, {node_of(&scene, 1), 800, 10}}});
  scene.host().lost_owners.push_back({false, 3, 900, 9, {}});
  scene.host().lost_owners.push_back({false, 2, 700, 2, {{node_of(&scene, 2), 700, 2}}});
  const std::vector<LostStory> stories = stories_of(&scene);
  REQUIRE(stories.size() == 3);
  CHECK(stories[0].is_cycle);
  CHECK(stories[0].is_counted);
  CHECK(stories[0].owners == 50);
  CHECK(stories[0].bytes == 40 * 8180 + 1800);
  CHECK(stories[0].blocks == 140);
  CHECK(stories[0].all_blocks == 40 + 40 + 10 + 40);
  CHECK(stories[0].over_ns == 2 * kSecond);
  REQUIRE(stories[0].frames.size() == 2);
  CHECK(function_of(&scene, stories[0].frames[0]) == "Node::make()");
  CHECK(function_of(&scene, stories[0].frames[1]).starts_with("Child::make"));
  CHECK_FALSE(stories[0].callers.shares.empty());
  CHECK_FALSE(stories[1].is_cycle);
  CHECK(function_of(&scene, stories[1].frames[0]) == "Mesh::load()");
  CHECK(stories[2].frames.empty());  // the rest is last, though it is larger
}

TEST_CASE("a parameter that is a shared_ptr says nothing of who holds whom") {
  Scene scene = cycles();
  scene.host().lost_owners[0].parts.erase(scene.host().lost_owners[0].parts.begin());
  const std::vector<LostStory> stories = stories_of(&scene);
  REQUIRE(stories.size() == 1);
  CHECK_FALSE(stories[0].is_counted);
  CHECK(function_of(&scene, stories[0].frames[0]).find("shared_ptr") != std::string::npos);
}

TEST_CASE("owners whose leaks are all known are no story") {
  Scene scene = cycles();
  scene.host().sites[0].suppressed_by = 1;
  CHECK(stories_of(&scene).size() == 1);  // the other one's are not
  scene.host().sites[1].suppressed_by = 1;
  CHECK(stories_of(&scene).empty());
}

TEST_CASE("what is lost is found by its owner, and what goes with it is no finding besides") {
  Scene scene = cycles();
  scene.host().sites[2].live_bytes = rising(32'000);  // the meshes grow over time
  for (size_t i = 1; i <= 10; ++i) scene.host().moments_ns.push_back(i * kSecond);
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kSmallNeverFreed);
  CHECK(found[0].is_lost);
  CHECK(found[0].is_cycle);
  CHECK(found[0].is_counted);
  CHECK(found[0].owners == 40);
  CHECK(found[0].cost_bytes == 40 * 8180);
  CHECK(found[0].cost_blocks == 120);
  CHECK(function_of(&scene, found[0].frame) == "Node::make()");
  REQUIRE(found[0].cycle_frames.size() == 1);
  CHECK(function_of(&scene, found[0].cycle_frames[0]).starts_with("Child::make"));
  scene.host().lost_owners[0].blocks = 4;
  scene.host().lost_owners[0].owners = 2;
  CHECK(scene.kinds() == "never-freed");
}

TEST_CASE("where small owners have most of what is lost, findings are about places") {
  Scene scene = cycles();
  LostOwners& owners = scene.host().lost_owners[0];
  owners.bytes = 64 * 1024 - 1;
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(function_of(&scene, found[0].frame) == "Mesh::load()");
  CHECK(found[0].owners == 0);
  CHECK_FALSE(found[0].is_cycle);
  owners.bytes = 40 * 8180 / 2 - 1;  // large, but less than half
  CHECK(scene.found()[0].owners == 0);
  owners.bytes = 40 * 8180 / 2;
  REQUIRE(scene.found().size() == 1);
  CHECK(scene.found()[0].owners == 40);
  scene.host().lost_owners.clear();
  CHECK(function_of(&scene, scene.found()[0].frame) == "Mesh::load()");
}

TEST_CASE("owners with more than was lost, or with parts larger than all they own, are damage") {
  const auto violations = [](const std::function<void(LostOwners*)>& spoil) {
    Scene scene = cycles();
    spoil(&scene.host().lost_owners[0]);
    canonicalize(&scene.profile());
    std::string text;
    for (const std::string& one : find_violations(scene.profile())) text += one + "\n";
    return text;
  };
  CHECK(violations([](LostOwners*) {}).find("own") == std::string::npos);
  CHECK(violations([](LostOwners* it) { ++it->bytes; }).find("lost_bytes of owners is") != std::string::npos);
  CHECK(violations([](LostOwners* it) { ++it->blocks; }).find("lost_count of owners is") != std::string::npos);
  CHECK(violations([](LostOwners* it) { it->owners = 121; }).find("owners_count is") != std::string::npos);
  CHECK(violations([](LostOwners* it) { it->parts[0].bytes = 400'000; }).find("owner_bytes is") != std::string::npos);
  CHECK(violations([](LostOwners* it) { it->parts[0].blocks = 90; }).find("owner_blocks_count is") !=
        std::string::npos);
}
