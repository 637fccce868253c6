// tests/unit/write/lost_words_test.cc: what is said of owners of what was lost, in each language, and that a table has
// a row for each of them.
#include "cli/write/report/lost_words.h"

#include "cli/model/profile/device_facts.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/report_sections.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

SizedNumbers all_lost(uint64_t count, uint64_t each_bytes, uint64_t alone) {
  SizedNumbers n = blocks(count, each_bytes, true);
  n.first_leak_ns = kSecond;
  n.last_leak_ns = 3 * kSecond;
  n.lost_blocks = alone;
  n.lost_bytes = alone * each_bytes;
  n.indirectly_lost_blocks = count - alone;
  n.indirectly_lost_bytes = n.indirectly_lost_blocks * each_bytes;
  return n;
}

// 36 cycles of two places in files of that ending, which lead to meshes.
Scene scene_in(const std::string& ending, const std::string& inner = "malloc") {
  Scene scene;
  scene.add({{inner, "", 0}, {"build_node", "/src/scene" + ending, 45}, kMain}, all_lost(36, 200, 36));
  scene.add({{"malloc", "", 0}, {"attach", "/src/scene" + ending, 21}, kMain}, all_lost(36, 100, 0));
  scene.add({{"malloc", "", 0}, {"load_mesh", "/src/mesh" + ending, 18}, kMain}, all_lost(72, 10'000, 0));
  scene.profile().run.leak_check.is_asked = true;
  scene.profile().run.leak_check.is_made = true;
  const std::vector<Site>& sites = scene.host().sites;
  scene.host().lost_owners = {{true, 36, 730'800, 144, {{sites[0].node, 7200, 36}, {sites[1].node, 3600, 36}}}};
  return scene;
}

struct Said {
  std::string sentence;
  std::string head;
  std::string detail;
  std::string remedy;
};

Said said_of(Scene* scene) {
  const PlaceTree tree = build_place_tree(scene->profile());
  const FrameNames names(scene->profile(), tree);
  const std::vector<Finding> found = scene->found();
  REQUIRE(found.size() == 1);
  const ReportView view;
  return {finding_sentence(scene->profile(), found[0], names, 200), finding_head(found[0], view),
          finding_detail(scene->profile(), found[0], names, view), finding_remedy(scene->profile(), found[0])};
}

LostPlaces rows_of(Scene* scene, LeakView view) {
  const PlaceTree tree = build_place_tree(scene->profile());
  return lost_places(scene->profile(), tree, FrameNames(scene->profile(), tree), scene->host(), view);
}

}  // namespace

TEST_CASE("a cycle of counted pointers is named with both places, and what lets go") {
  Scene scene = scene_in(".cc", "std::make_shared<Node>(int&&)");
  const Said said = said_of(&scene);
  CHECK(said.sentence ==
        "build_node (scene.cc:45) and attach (scene.cc:21) point to each other: 714 KiB lost in 36 cycles; let one of "
        "them point without owning (std::weak_ptr)");
  CHECK(said.head == "714 KiB lost in 36 cycles");
  CHECK(said.detail ==
        "blocks of this place and attach (scene.cc:21) point to each other, and nothing else pointed to them when the "
        "program ended; with what only they lead to they are 144 blocks, 4.96 KiB on average");
  CHECK(said.remedy == "let one of them point without owning (std::weak_ptr)");
}

TEST_CASE("advice is in the program's language, and names weak pointers alone only where counting ones were seen") {
  Scene rust = scene_in(".rs", "alloc::rc::Rc<app::Node>::new");
  CHECK(said_of(&rust).sentence.ends_with("; let one of them point without owning (Weak)"));
  Scene c = scene_in(".c");
  CHECK(said_of(&c).sentence.ends_with("lost in 36 cycles; free them after their last use"));
  CHECK(said_of(&c).remedy.find("weak") == std::string::npos);
  Scene plain = scene_in(".cc");
  CHECK(said_of(&plain).remedy ==
        "free them after their last use, or let one of them point without owning (std::weak_ptr)");
}

TEST_CASE("cycles of one place, of many places, and of one") {
  Scene alone = scene_in(".cc");
  alone.host().lost_owners[0].parts.pop_back();
  alone.host().lost_owners[0].owners = 1;
  CHECK(said_of(&alone).sentence.starts_with(
      "blocks of build_node (scene.cc:45) point to each other: 714 KiB lost in 1 cycle; "));
  CHECK(said_of(&alone).detail.starts_with("blocks of this place point to each other, and"));
  CHECK(rows_of(&alone, {120}).rows.find("in a cycle") != std::string::npos);
  Scene three = scene_in(".cc");
  three.host().lost_owners[0].parts.push_back({three.host().sites[2].node, 100, 1});
  CHECK(said_of(&three).sentence.starts_with(
      "build_node (scene.cc:45), attach (scene.cc:21) and 1 more point to each other: "));
  CHECK(rows_of(&three, {120}).rows.find("with attach (scene.cc:21) and 1 more") != std::string::npos);
}

TEST_CASE("of an owner alone it is said what goes with it, where something does") {
  Scene scene = scene_in(".c");
  LostOwners& owners = scene.host().lost_owners[0];
  owners.is_cycle = false;
  owners.parts.pop_back();
  CHECK(said_of(&scene).sentence ==
        "build_node (scene.c:45) lost 36 blocks, with what only they lead to 714 KiB in 144 blocks: no pointer leads "
        "to them any more; free them after their last use");
  CHECK(said_of(&scene).head == "714 KiB in 144 small blocks lost");
  CHECK(said_of(&scene).detail ==
        "no pointer reached 36 of them when the program ended, and only from there to the others; 4.96 KiB on average");
  owners.owners = owners.blocks;
  CHECK(said_of(&scene).sentence ==
        "build_node (scene.c:45) lost 714 KiB in 144 small blocks: no pointer leads to them any more; free them after "
        "their last use");
}

TEST_CASE("of one lost block it is not said how large each is") {
  Finding finding;
  finding.cost_blocks = 1;
  finding.all_blocks = 20;
  CHECK(unreached_words("1.00 KiB", finding) ==
        "1.00 KiB, of the 20 that the same stacks made; no pointer reached it when the program ended");
  finding.all_blocks = 1;
  CHECK(unreached_words("1.00 KiB", finding) ==
        "1.00 KiB, the only one that the same stack made; no pointer reached it when the program ended");
  finding.cost_blocks = finding.all_blocks = 20;
  CHECK(unreached_words("1.00 KiB", finding) ==
        "1.00 KiB each, of the 20 that the same stacks made; no pointer reached them when the program ended");
}

TEST_CASE("a row is an owner's, with what else is in its cycle, and the rest comes last") {
  Scene scene = scene_in(".cc");
  scene.host().lost_owners[0].bytes -= 10'000;
  scene.host().lost_owners[0].blocks -= 1;
  scene.host().lost_owners.push_back({false, 1, 10'000, 1, {}});
  const LostPlaces rows = rows_of(&scene, {100});
  CHECK(rows.remark == "2 owners");
  CHECK(rows.rows ==
        " 704 KiB  98.6 %  143 blocks  build_node  scene.cc:45   with attach (scene.cc:21)\n"
        "9.77 KiB   1.4 %     1 block  [others]\n");
  CHECK(rows_of(&scene, {100, false, 1}).remark == "top 1 of 2 owners");
  Scene without = scene_in(".cc");
  without.host().lost_owners.clear();
  CHECK(rows_of(&without, {100}).remark == "3 places");
}

TEST_CASE("scripts get the owners of a finding, and what else is in its cycle") {
  Scene scene = scene_in(".cc");
  const std::string json = render_findings_json(scene.profile(), {}, {});
  CHECK(json.find("\"owners_count\":36,\"is_cycle\":true,\"cycle_with\":[{") != std::string::npos);
  scene.host().lost_owners[0].is_cycle = false;
  const std::string other = render_findings_json(scene.profile(), {}, {});
  CHECK(other.find("\"owners_count\":36,\"is_cycle\":false") != std::string::npos);
  CHECK(other.find("cycle_with") == std::string::npos);
  scene.host().lost_owners.clear();
  CHECK(render_findings_json(scene.profile(), {}, {}).find("owners_count") == std::string::npos);
  CHECK(render_report_json(scene.profile(), {}, {}).find("lost_owners") == std::string::npos);
}
