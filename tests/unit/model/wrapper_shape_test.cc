// tests/unit/model/wrapper_shape_test.cc: what speaks against a wrapper: another file, another device, pieces that are
// no objects, and the other one of two profiles.
#include "cli/model/analysis/wrapper_shape.h"

#include "cli/model/analysis/folding.h"
#include "tests/support/wrapper_plan.h"

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

using Step = ScenePlan::Step;

// `grab` of a file, as it is recognised, for ten callers; `largest_factor` 2: it decides sizes by itself.
void add_grab(ScenePlan* plan, const std::string& file, uint64_t blocks, uint64_t largest_factor = 1,
              const std::string& function = "grab") {
  for (uint32_t i = 0; i < 10; ++i) {
    const uint64_t size = 64 + 16 * i;
    const Step caller{"caller" + std::to_string(i) + "_" + file, file, 100 + i};
    add_blocks(plan, {{"malloc", "", 0}, {function, file, 7}, caller, kMain}, blocks, size, size * largest_factor);
  }
}

Profile grabs(const std::function<void(ScenePlan*)>& fill) {
  ScenePlan plan;
  plan.add_device("host");
  fill(&plan);
  return plan.take();
}

using Names = std::vector<std::string>;

Names folded_of(Profile profile) {
  mark_folded({}, &profile);
  return find_folded_names(profile);
}

}  // namespace

TEST_CASE("of two functions of one name each keeps its own rows, in this profile and the other") {
  // The other profile's grab is in a file of its own, and makes what it likes.
  Profile base = grabs([](ScenePlan* plan) { add_grab(plan, "/src/b.c", 100, 2); });
  Profile current = grabs([](ScenePlan* plan) { add_grab(plan, "/src/a.c", 100); });
  mark_folded({}, std::array<Profile*, 2>{&base, &current});
  CHECK(find_folded_names(base).empty());
  CHECK(find_folded_names(current) == Names{"grab (recognised)"});
  // In the same file, wherever that lies, but not the same any more: rows of the two could not be compared.
  for (const bool is_first : {true, false}) {
    base = grabs([](ScenePlan* plan) { add_grab(plan, "/build/1/a.c", 20, 2); });
    current = grabs([](ScenePlan* plan) { add_grab(plan, "/build/2/a.c", 100); });
    if (is_first) {
      mark_folded({}, std::array<Profile*, 2>{&base, &current});
    } else {
      mark_folded({}, std::array<Profile*, 2>{&current, &base});
    }
    CHECK(find_folded_names(base).empty());
    CHECK(find_folded_names(current).empty());
  }
  base = grabs([](ScenePlan* plan) { add_grab(plan, "/build/1/a.c", 20); });
  current = grabs([](ScenePlan* plan) { add_grab(plan, "/build/2/a.c", 100); });
  mark_folded({}, std::array<Profile*, 2>{&base, &current});
  CHECK(find_folded_names(base) == Names{"grab (recognised)"});
  // An overload is another function.
  base = grabs([](ScenePlan* plan) { add_grab(plan, "/src/a.c", 20, 1, "grab(char const*)"); });
  current = grabs([](ScenePlan* plan) { add_grab(plan, "/src/a.c", 100, 1, "grab(unsigned long)"); });
  mark_folded({}, std::array<Profile*, 2>{&base, &current});
  CHECK(find_folded_names(base).empty());
}

TEST_CASE("where a name is that of two functions, the folded one's file is said") {
  CHECK(folded_of(grabs([](ScenePlan* plan) {
          add_grab(plan, "/src/a.c", 100);
          add_grab(plan, "/src/b.c", 100, 2);
        })) == Names{"grab (a.c, recognised)"});
  CHECK(folded_of(grabs([](ScenePlan* plan) {
          add_grab(plan, "/src/a.c", 100);
          add_grab(plan, "/src/b.c", 100, 2, "regrab");
        })) == Names{"grab (recognised)"});
}

TEST_CASE("a function that decides sizes on one device is folded on none") {
  // So many callers that get one block each of another line, of sizes that differ by so much.
  const auto with_mapped = [](uint32_t callers, uint64_t step_bytes, uint64_t blocks, uint64_t factor = 1) {
    return folded_of(grabs([&](ScenePlan* plan) {
      add_grab(plan, "/src/a.c", 100);
      plan->add_device("mapped");
      for (uint32_t i = 0; i < callers; ++i) {
        const uint64_t size = (16 << 20) + i * step_bytes;
        add_blocks(plan, {{"grab", "/src/a.c", 6}, own("maps" + std::to_string(i), 100 + i), kMain}, blocks, size,
                   size * factor);
      }
    }));
  };
  CHECK(with_mapped(0, 0, 1) == Names{"grab (recognised)"});
  CHECK(with_mapped(9, 0, 1).empty());  // one size for all
  CHECK(with_mapped(1, 0, 1).empty());  // and it is another line's
  CHECK(with_mapped(9, 0, 500).empty());
  CHECK(with_mapped(9, 4096, 500, 2).empty());  // several sizes for each of them
  CHECK(with_mapped(2, 4096, 4, 2).empty());
  CHECK(with_mapped(9, 4096, 1) == Names{"grab (recognised)"});  // theirs
  CHECK(with_mapped(9, 4096, 500) == Names{"grab (recognised)"});
}

TEST_CASE("functions that all have more than can be counted are not a quarter each") {
  const std::vector<std::string> folded = folded_of(grabs([](ScenePlan* plan) {
    for (int i = 0; i < 12; ++i) add_grab(plan, "/src/" + std::to_string(i) + ".c", 100, 1, "grab" + std::to_string(i));
    for (Site& site : plan->profile().devices[0].sites) {
      site.numbers.peak_bytes = site.numbers.total_bytes = site.numbers.leaked_bytes = uint64_t{1} << 62;
    }
  }));
  CHECK(folded == Names{});
}

TEST_CASE("what is recognised does not depend on which leaks are suppressed") {
  const auto leaking = [](uint32_t suppressed_by) {
    return folded_of(grabs([&](ScenePlan* plan) {
      add_grab(plan, "/src/a.c", 100);
      for (Site& site : plan->profile().devices[0].sites) {
        site.numbers.peak_bytes = 0;
        site.numbers.leaked_bytes = site.numbers.total_bytes;
        site.suppressed_by = suppressed_by;
      }
      add_blocks(plan, {{"malloc", "", 0}, own("other"), kMain}, 2, 10'000'000);
    }));
  };
  CHECK(leaking(0) == Names{"grab (recognised)"});
  CHECK(leaking(1) == Names{"grab (recognised)"});
}

TEST_CASE("an operator new that cuts objects from pieces of its own keeps its rows") {
  // Pieces or objects that two callers get, so many each.
  const auto places = [](const std::string& function, uint64_t blocks, uint64_t smallest, uint64_t largest = 0) {
    ScenePlan plan;
    plan.add_device("host");
    for (const char* caller : {"parse_a", "parse_b"})
      add_blocks(&plan, {{"malloc", "", 0}, own(function), own(caller), kMain}, blocks, smallest, largest);
    Profile profile = plan.take();
    mark_folded({}, &profile);
    const PlaceTree tree = build_place_tree(profile);
    return name_at(profile, tree.place_node[profile.devices[0].sites[0].node]);
  };
  const std::string one = "Node::operator new(unsigned long)";
  const std::string array = "Node::operator new[](unsigned long)";
  CHECK(places(one, 1000, 16) == "parse_a");
  CHECK(places(one, 1, 4095) == "parse_a");
  CHECK(places(one, 3, 1 << 20) == one);
  CHECK(places(one, 1, 4096) == one);
  CHECK(places(one, 9, 512, 1024) == one);  // one expression has objects of one size
  CHECK(places(array, 9, 512, 1 << 20) == "parse_a");
  CHECK(places(array, 3, 1 << 20) == array);
  CHECK(places("gc_alloc", 9, 512, 1 << 20) == "parse_a");
  CHECK(places("gc_alloc", 3, 1 << 20) == "gc_alloc");
  CHECK(places("_PyObject_GC_New", 3, 1 << 20) == "_PyObject_GC_New");
  CHECK(places("_PyObject_GC_New", 300, 56) == "parse_a");
}

TEST_CASE("a folded function that kept a row says which of its callers it was folded for") {
  const auto names = [](bool has_unnamed) {
    return folded_of(grabs([&](ScenePlan* plan) {
      add_blocks(plan, {{"malloc", "", 0}, own("zmalloc"), own("load"), kMain}, 10, 100);
      add_blocks(plan, {{"malloc", "", 0}, own("zcalloc"), own("load"), kMain}, 5, 100);
      if (has_unnamed) add_blocks(plan, {{"malloc", "", 0}, own("zmalloc"), own("", 9), kMain}, 10, 100);
    }));
  };
  CHECK(names(false) == Names{"zmalloc", "zcalloc"});
  CHECK(names(true) == Names{"zmalloc (named callers)", "zcalloc"});
}
