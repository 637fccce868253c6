// tests/unit/model/folding_test.cc: whose row a wrapper's blocks are, and which functions are taken for wrappers.
#include "cli/model/analysis/folding.h"

#include "cli/model/analysis/wrapper_shape.h"
#include "cli/model/profile/frame_text.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"
#include "tests/support/wrapper_plan.h"

#include <catch2/catch.hpp>

#include <functional>
#include <random>
#include <set>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

using Step = ScenePlan::Step;

// The places of a profile of one site for each stack; the frames of a stack are functions of the program's own, but for
// "" (no name) and names that are known otherwise.
std::vector<std::string> places_of(const std::vector<std::vector<Step>>& stacks, const FoldRules& rules = {}) {
  ScenePlan plan;
  plan.add_device("host");
  for (const std::vector<Step>& stack : stacks) add_blocks(&plan, stack, 1, 100);
  Profile profile = plan.take();
  mark_folded(rules, &profile);
  const PlaceTree tree = build_place_tree(profile);
  std::vector<std::string> names;
  for (const Site& site : profile.devices[0].sites) names.push_back(name_at(profile, tree.place_node[site.node]));
  return names;
}
std::string place_of(const std::vector<Step>& stack, const FoldRules& rules = {}) {
  return places_of({stack}, rules)[0];
}

}  // namespace

TEST_CASE("a known wrapper hands its row to its caller") {
  CHECK(place_of({{"malloc", "", 0}, own("zmalloc"), own("load"), kMain}) == "load");
  CHECK(place_of({own("ztrymalloc_usable_internal"), own("ztrymalloc_usable"), own("zmalloc"), own("load"), kMain}) ==
        "load");
  CHECK(place_of({own("void* node::UncheckedMalloc<char>(unsigned long)"), own("load"), kMain}) == "load");
  CHECK(place_of({own("Tile::operator new(unsigned long)"), own("load"), kMain}) == "load");
  CHECK(place_of({own("zmalloc_get_rss"), own("load"), kMain}) == "zmalloc_get_rss");  // names are whole
  CHECK(place_of({own("load"), kMain}) == "load");
}

TEST_CASE("a wrapper keeps what nobody with a name called for") {
  CHECK(place_of({own("zmalloc")}) == "zmalloc");
  CHECK(place_of({own("zcalloc"), own("zmalloc"), {"_start", "", 0}}) == "zmalloc");  // the outermost of several
  CHECK(place_of({own("zmalloc"), own("", 9), kMain}) == "zmalloc");
  CHECK(place_of({own("zmalloc"), {std::string(kSmallSitesText), "", 0}}) == "zmalloc");
}

TEST_CASE("a wrapper whose callers have no names hides none of what is missing") {
  const auto unnamed_module = [](const std::vector<Step>& stack) {
    ScenePlan plan;
    plan.add_device("host");
    add_blocks(&plan, stack, 1, 100);
    Profile profile = plan.take();
    mark_folded({}, &profile);
    const Frame* frame = find_unnamed_frame(profile, build_place_tree(profile), profile.devices[0].sites[0].node);
    return frame == nullptr ? kNoModule : frame->module;
  };
  CHECK(unnamed_module({own("zmalloc"), own("", 9), kMain}) == 0);
  CHECK(unnamed_module({own("", 9), kMain}) == 0);
  CHECK(unnamed_module({own("zmalloc"), own("load"), own("", 9)}) == kNoModule);
  CHECK(unnamed_module({own("load"), own("", 9)}) == kNoModule);
  CHECK(unnamed_module({own("zmalloc")}) == kNoModule);
  CHECK(unnamed_module({}) == kNoModule);
}

TEST_CASE("a frame without a name inside of a wrapper belongs to it") {
  CHECK(place_of({own("", 1), own("zmalloc"), own("load"), kMain}) == "load");
  CHECK(place_of({own("", 1), own("", 2), own("zmalloc"), own("load"), kMain}) == "load");
  CHECK(place_of({own("", 1), own("zmalloc"), own("", 9), kMain}) == "zmalloc");
  CHECK(place_of({own("", 1), own("load"), kMain}).empty());
}

TEST_CASE("further out a wrapper is a caller like others") {
  ScenePlan plan;
  plan.add_device("host");
  add_blocks(&plan, {{"malloc", "", 0}, own("log_failure"), own("zmalloc"), own("load"), kMain}, 1, 100);
  Profile profile = plan.take();
  mark_folded({}, &profile);
  const PlaceTree tree = build_place_tree(profile);
  const std::vector<Place> places = find_places(profile, tree, profile.devices[0]);
  REQUIRE(places.size() == 1);
  CHECK(profile.frames[places[0].frame].function == "log_failure");
  const CallerChain chain = find_callers(profile, tree, profile.devices[0], places[0], Metric::kPeak);
  REQUIRE(chain.frames.size() == 3);
  CHECK(profile.frames[chain.frames[0]].function == "zmalloc");
  CHECK(find_folded_names(profile).empty());
}

TEST_CASE("all frames undo it, and show wrappers that are hidden otherwise") {
  FoldRules undone;
  undone.all_frames = true;
  CHECK(place_of({{"malloc", "", 0}, own("zmalloc"), own("load"), kMain}, undone) == "zmalloc");
  CHECK(place_of({{"malloc", "", 0}, own("xmalloc"), own("load"), kMain}) == "load");
  CHECK(place_of({{"malloc", "", 0}, own("xmalloc"), own("load"), kMain}, undone) == "xmalloc");
  CHECK(place_of({{"malloc", "", 0}, {"g_malloc", "", 0}, own("load"), kMain}, undone) == "g_malloc");
}

TEST_CASE("users say which others there are") {
  FoldRules rules;
  rules.patterns = {{"new_*", "", ""}, {"", "", "*/own.c"}};
  CHECK(place_of({own("new_node"), own("parse"), kMain}, rules) == "parse");
  CHECK(place_of({{"grow", "/src/own.c", 2}, {"push", "/src/own.c", 3}, own("parse"), kMain}, rules) == "parse");
  CHECK(place_of({own("renew_node"), own("parse"), kMain}, rules) == "renew_node");
  rules.patterns = {{"*", "", ""}};
  CHECK(place_of({own("new_node"), own("parse"), kMain}, rules) == "main");
  rules.all_frames = true;
  CHECK(place_of({own("new_node"), own("parse"), kMain}, rules) == "new_node");
}

TEST_CASE("what is folded is said by its outermost wrapper, the largest first") {
  ScenePlan plan;
  plan.add_device("host");
  add_blocks(&plan, {own("ztrymalloc"), own("zmalloc"), own("load"), kMain}, 10, 100);
  add_blocks(&plan, {{"g_malloc", "", 0}, own("read"), kMain}, 30, 100);
  add_blocks(&plan, {own("zrealloc"), own("", 5), kMain}, 90, 100);  // it keeps them
  Profile profile = plan.take();
  mark_folded({}, &profile);
  CHECK(find_folded_names(profile) == std::vector<std::string>{"g_malloc", "zmalloc"});
}

// ---- what is recognised ----

namespace {

// `grab` as it is recognised: ten callers with a size each, 100 blocks each; and other places with as many bytes.
struct Shape {
  std::string function = "grab";
  size_t callers = 10;
  uint64_t blocks = 100;
  uint64_t step_bytes = 16;      // by which the callers' sizes differ
  uint64_t largest_factor = 1;   // of the sizes in one stack
  std::vector<Step> inner = {};  // frames between grab and malloc
  uint64_t other_bytes = 1;      // of a place that is none of it
  bool has_two_lines = false;    // of grab, where it calls malloc
  bool calls_itself = false;     // in one stack
  bool is_grouped = false;       // rows that sum small sites
  bool has_sizes = true;
  bool has_caller_names = true;
};

std::set<std::string> recognised(const Shape& shape, Profile* out = nullptr) {
  ScenePlan plan;
  plan.add_device("host");
  for (size_t i = 0; i < shape.callers; ++i) {
    std::vector<Step> stack = {{"malloc", "", 0}};
    stack.insert(stack.end(), shape.inner.begin(), shape.inner.end());
    stack.push_back(own(shape.function, shape.has_two_lines && i % 2 == 1 ? 8 : 7));
    if (shape.calls_itself && i == 0) stack.push_back(own(shape.function, 9));
    const auto line = static_cast<uint32_t>(100 + i);
    stack.push_back(own(shape.has_caller_names ? "caller" + std::to_string(i) : "", line));
    stack.push_back(kMain);
    const uint64_t size = 64 + i * shape.step_bytes;
    add_blocks(&plan, stack, shape.blocks, size, size * shape.largest_factor);
    Site& site = plan.profile().devices[0].sites.back();
    if (shape.is_grouped) site.grouped_stacks = 3;
    if (!shape.has_sizes) site.numbers.smallest_bytes = site.numbers.largest_bytes = 0;
  }
  add_blocks(&plan, {{"malloc", "", 0}, own("other"), kMain}, 2, shape.other_bytes);
  Profile profile = plan.take();
  mark_folded({}, &profile);
  std::set<std::string> names;
  for (size_t i = 0; i < profile.folds.size(); ++i) {
    if (profile.folds[i] == FrameFold::kRecognised) names.insert(profile.frames[i].function);
  }
  if (out != nullptr) *out = profile;
  return names;
}

bool is_recognised(const std::function<void(Shape*)>& change) {
  Shape shape;
  change(&shape);
  return !recognised(shape).empty();
}

}  // namespace

TEST_CASE("a function that passes sizes on for many callers is recognised") {
  CHECK(recognised({}) == std::set<std::string>{"grab"});
  CHECK(is_recognised([](Shape* s) { s->callers = 8, s->blocks = 125; }));
  CHECK(is_recognised([](Shape* s) { s->inner = {own("zmalloc")}; }));
  CHECK(is_recognised([](Shape* s) { s->other_bytes = 3 * 10 * 100 * 136 / 2; }));
}

TEST_CASE("where something does not fit a function keeps its rows") {
  CHECK_FALSE(is_recognised([](Shape* s) { s->callers = 7, s->blocks = 1'000; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->blocks = 99; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->step_bytes = 0; }));      // it makes objects of one kind
  CHECK_FALSE(is_recognised([](Shape* s) { s->largest_factor = 2; }));  // it grows, loads or copies something
  CHECK_FALSE(is_recognised([](Shape* s) { s->has_two_lines = true; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->calls_itself = true; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->is_grouped = true; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->has_sizes = false; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->has_caller_names = false; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->function = ""; }));
  CHECK_FALSE(is_recognised([](Shape* s) { s->other_bytes = 2 * 10 * 100 * 136; }));
  const Step vector{"std::vector<char>::reserve(unsigned long)", "/usr/include/c++/12/bits/vector.tcc", 80};
  CHECK_FALSE(is_recognised([&](Shape* s) { s->inner = {vector}; }));
}

TEST_CASE("a name that says it allocates needs less") {
  const auto named = [](Shape* s) { s->callers = 3, s->blocks = 2, s->function = "pool_alloc"; };
  CHECK(is_recognised(named));
  CHECK_FALSE(is_recognised([](Shape* s) { s->callers = 3, s->blocks = 2, s->function = "load"; }));
  CHECK_FALSE(is_recognised([&](Shape* s) { named(s), s->callers = 2, s->blocks = 50; }));
  CHECK_FALSE(is_recognised([&](Shape* s) { named(s), s->blocks = 1; }));  // a pool's slab, once each
  CHECK_FALSE(is_recognised([&](Shape* s) { named(s), s->step_bytes = 0; }));
  CHECK_FALSE(is_recognised([&](Shape* s) { named(s), s->largest_factor = 2; }));
  CHECK_FALSE(is_recognised([&](Shape* s) { named(s), s->calls_itself = true; }));
}

TEST_CASE("which names say that they allocate") {
  for (const char* name : {"pool_alloc", "Arena::allocate", "myMalloc", "alloc", "lj_mem_realloc", "X::Alloc",
                           "zalloc2", "mem_calloc_", "pool::alloc<int>", "HALLOC"})
    CHECK(says_that_it_allocates(name));
  for (const char* name :
       {"allocate_scene", "load", "dealloc", "Pool::dealloc", "alloc_table", "", "<", "AllocTable", "_"})
    CHECK_FALSE(says_that_it_allocates(name));
}

TEST_CASE("behind a wrapper another one is found") {
  Shape shape;
  shape.inner = {own("get_bytes")};
  Profile profile;
  CHECK(recognised(shape, &profile) == std::set<std::string>{});  // get_bytes has one caller
  ScenePlan plan;
  plan.add_device("host");
  for (uint64_t i = 0; i < 10; ++i) {
    const Step caller = own("caller" + std::to_string(i), static_cast<uint32_t>(100 + i));
    add_blocks(&plan, {{"malloc", "", 0}, own("raw", 1), own("make", 2), caller, kMain}, 200, 64 + 8 * i);
    add_blocks(&plan, {{"malloc", "", 0}, own("raw", 1), own("direct" + std::to_string(i), 3), kMain}, 150, 32 + 8 * i);
  }
  profile = plan.take();
  mark_folded({}, &profile);
  CHECK(find_folded_names(profile) == std::vector<std::string>{"make (recognised)", "raw (recognised)"});
}

TEST_CASE("of profiles that are shown together the same functions are folded") {
  Shape few;
  few.blocks = 20;
  Profile base;
  CHECK(recognised(few, &base).empty());
  Profile current;
  CHECK_FALSE(recognised({}, &current).empty());
  mark_folded({}, std::array<Profile*, 2>{&base, &current});
  CHECK(find_folded_names(base) == std::vector<std::string>{"grab (recognised)"});
  CHECK(find_folded_names(current) == std::vector<std::string>{"grab (recognised)"});
}

TEST_CASE("of an operator new behind another each is looked at") {
  const Step base = own("Base::operator new(unsigned long)");
  const Step node = own("Node::operator new(unsigned long)", 8);
  CHECK(place_of({{"malloc", "", 0}, base, node, own("parse"), kMain}) == "parse");
}

TEST_CASE("whatever is folded, each site is in one place, its own or an outer one, and no number changes") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    for (Profile profile : {scene_profile(), assembled(small_sample()), assembled(random_sample({}))}) {
      const PlaceTree plain = build_place_tree(profile);
      for (size_t i = 0; i < profile.frames.size(); ++i)
        profile.folds.push_back(static_cast<FrameFold>(random() % 6 == 0 ? 1 + random() % 4 : 0));
      const PlaceTree tree = build_place_tree(profile);
      for (const Device& device : profile.devices) {
        PlaceNumbers sum;
        size_t sites = 0;
        for (const Place& place : find_places(profile, tree, device)) {
          sum.add(place.numbers);
          sites += place.sites.size();
          const CallerChain chain = find_callers(profile, tree, device, place, Metric::kPeak);
          uint64_t shares = 0;
          for (const CallerShare& share : chain.shares) shares += share.weight;
          CHECK(chain.weight == place.numbers.peak_bytes);
          CHECK(shares <= chain.weight);
        }
        CHECK(sites == device.sites.size());
        CHECK(sum.peak_bytes == sum_of_sites(device).peak_bytes);
        CHECK(sum.total_bytes == sum_of_sites(device).total_bytes);
        for (const Site& site : device.sites) {
          uint32_t node = plain.place_node[site.node];
          const uint32_t place = tree.place_node[site.node];
          const bool is_allocators = tree.kinds[profile.nodes[place].frame] != plain.kinds[profile.nodes[place].frame];
          while (node != place && node != 0) node = profile.nodes[node].parent;
          CHECK((node == place || is_allocators));  // kUndone makes functions of the allocator the program's own
        }
      }
    }
  }
}
