// tests/unit/model/findings_test.cc: each rule at its thresholds, on both sides; order and names of what is found.
#include "cli/model/analysis/findings.h"

#include "cli/model/analysis/finding_rules.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

TEST_CASE("a device whose sites are not looked at over time is said not to be asked for growth") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(100, 40'000)).live(rising(40'000));
  CHECK(find_unasked(scene.profile(), "").empty());
  scene.profile().devices.emplace_back().name = "cuda:0";
  CHECK(find_unasked(scene.profile(), "") ==
        std::vector<Unasked>{{FindingKind::kGrowth, "cuda:0", Lack::kHostMoments},
                             {FindingKind::kStartPeak, "cuda:0", Lack::kHostMoments},
                             {FindingKind::kSpike, "cuda:0", Lack::kHostMoments},
                             {FindingKind::kBacklog, "cuda:0", Lack::kHostMoments}});
  CHECK(find_unasked(scene.profile(), "cuda:0") == std::vector<Unasked>{{FindingKind::kGrowth, "", Lack::kMoments},
                                                                        {FindingKind::kStartPeak, "", Lack::kMoments},
                                                                        {FindingKind::kSpike, "", Lack::kMoments},
                                                                        {FindingKind::kBacklog, "", Lack::kMoments}});
  CHECK(find_unasked(scene.profile(), "host").empty());
}

TEST_CASE("pages of the host are not judged if blocks are unknown, and that is said") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(100, 40'000)).live(rising(40'000));
  scene.profile().run.sampling.interval_bytes = 4096;
  const std::vector<Unasked> both = {{FindingKind::kFragmentation, "", Lack::kEveryBlock},
                                     {FindingKind::kUntouched, "", Lack::kEveryBlock}};
  CHECK(find_unasked(scene.profile(), "") == both);
  CHECK(find_unasked(scene.profile(), "host") == both);
  scene.profile().run.sampling = {};
  scene.profile().run.complete = false;
  CHECK(find_unasked(scene.profile(), "host") == both);
  scene.profile().run.complete = true;
  CHECK(find_unasked(scene.profile(), "host").empty());
}

TEST_CASE("bytes that realloc moved, and half of what a growing vector allocated, are copies") {
  SizedNumbers moved = blocks(100, 100'000);
  moved.resized_blocks = 99;
  moved.moved_bytes = 5'000'000;
  CHECK(Scene().add({kWork, kMain}, moved).kinds() == "copies");
  moved.moved_bytes = 4'000'000;  // below 4 MiB
  CHECK(Scene().add({kWork, kMain}, moved).kinds().empty());
  const Step insert{"void std::vector<int>::_M_realloc_insert<int>(int*, int&&)", "/usr/include/c++/12/bits/vector.tcc",
                    1};
  const Step append{"std::vector<int>::_M_default_append(unsigned long)", "/usr/include/c++/12/bits/vector.tcc", 2};
  Scene vector;
  vector.add({insert, kWork, kMain}, blocks(20, 500'000));
  const std::vector<Finding> found = vector.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost_bytes == 5'000'000);
  CHECK(found[0].is_estimate);
  CHECK(Scene().add({append, kWork, kMain}, blocks(20, 500'000)).kinds().empty());
  vector.add({kMain}, blocks(1, 200'000'000));
  CHECK(vector.kinds().empty());  // below 5 % of all bytes
}

TEST_CASE("strings that are added with + are made anew each time, and no container grows") {
  const Step mutate{
      "std::__cxx11::basic_string<char>::_M_mutate(unsigned long, unsigned long, char const*, "
      "unsigned long)",
      "/usr/include/c++/12/bits/basic_string.tcc", 1};
  const Step append{"std::__cxx11::basic_string<char>::_M_append(char const*, unsigned long)",
                    "/usr/include/c++/12/bits/basic_string.tcc", 2};
  const Step plus{
      "std::__cxx11::basic_string<char> std::operator+<char, std::char_traits<char> >(char const*, "
      "std::__cxx11::basic_string<char> const&)",
      "/usr/include/c++/12/bits/basic_string.h", 3};
  Scene scene;
  scene.add({mutate, append, plus, kWork, kMain}, blocks(20, 500'000));
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kCopies);
  CHECK(found[0].is_concatenation);
  CHECK_FALSE(Scene().add({mutate, append, kWork, kMain}, blocks(20, 500'000)).found()[0].is_concatenation);
  // What calls a function that adds strings is another matter.
  CHECK_FALSE(Scene().add({mutate, append, kWork, plus, kMain}, blocks(20, 500'000)).found()[0].is_concatenation);
  // Most of it grows by itself.
  scene.add({mutate, append, kWork, kMain}, blocks(30, 500'000));
  CHECK_FALSE(scene.found()[0].is_concatenation);
}

TEST_CASE("the block that a doubling container leaves is found where sizes prove that it was there at the peak") {
  const Step insert{"void std::vector<int>::_M_realloc_insert<int>(int*, int&&)", "/usr/include/c++/12/bits/vector.tcc",
                    1};
  const Step append{"std::string::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)", "", 0};
  const Step caller{"std::string::_M_append(char const*, unsigned long)", "", 0};
  const auto series = [](uint64_t smallest, uint64_t count, uint64_t extra) {
    SizedNumbers n;
    n.total_blocks = count;
    for (uint64_t i = 0; i < count; ++i) n.total_bytes += (smallest << i) + extra;
    n.peak_blocks = n.max_blocks = 2;
    n.peak_bytes = n.max_bytes = (smallest << (count - 1)) + (smallest << (count - 2)) + 2 * extra;
    return n;
  };
  const auto scene = [&](const std::vector<Step>& steps, const SizedNumbers& n, uint64_t smallest, uint64_t largest) {
    Scene made;
    if (steps.size() == 3) made.add({steps[0], steps[1], steps[2]}, n);
    if (steps.size() == 4) made.add({steps[0], steps[1], steps[2], steps[3]}, n);
    made.host().sites.back().numbers.smallest_bytes = smallest;
    made.host().sites.back().numbers.largest_bytes = largest;
    return made;
  };
  const auto has = [](Scene made) { return made.kinds().find("old-and-new") != std::string::npos; };
  const SizedNumbers doubled = series(8, 20, 0);
  CHECK(has(scene({insert, kWork, kMain}, doubled, 8, 8 << 19)));
  // A long series of sizes needs no name of a function.
  CHECK(has(scene({{"grow", "/src/g.cc", 1}, kWork, kMain}, doubled, 8, 8 << 19)));
  CHECK_FALSE(has(scene({{"grow", "/src/g.cc", 1}, kWork, kMain}, series(1 << 17, 7, 0), 1 << 17, 1 << 23)));
  CHECK(has(scene({insert, kWork, kMain}, series(1 << 17, 7, 0), 1 << 17, 1 << 23)));
  const std::vector<Finding> found = scene({insert, kWork, kMain}, doubled, 8, 8 << 19).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost_bytes == 8 << 18);
  CHECK(has(scene({append, caller, kWork, kMain}, series(30, 18, 1), 31, (30 << 17) + 1)));
  CHECK_FALSE(has(scene({insert, kWork, kMain}, series(8, 18, 0), 8, 8 << 17)));  // below 1 MiB
  SizedNumbers one = doubled;                                                     // at the peak the old one was gone
  one.peak_blocks = 1;
  one.peak_bytes = 8 << 19;
  CHECK_FALSE(has(scene({insert, kWork, kMain}, one, 8, 8 << 19)));
  SizedNumbers two = doubled;  // and a second one of half the size, which is as full
  two.total_blocks += 19;
  two.total_bytes += (8 << 19) - 8;
  CHECK_FALSE(has(scene({insert, kWork, kMain}, two, 8, 8 << 19)));
}

TEST_CASE("doubling blocks that are in use beside each other are no growing container, unless a function says so") {
  const Step insert{"void std::vector<int>::_M_realloc_insert<int>(int*, int&&)", "/usr/include/c++/12/bits/vector.tcc",
                    1};
  constexpr uint64_t kEachNs = kSecond;
  const auto found = [](const Step& step, uint64_t overlap_ns, bool has_stays) {
    constexpr uint64_t kBlocks = 9;
    SizedNumbers n;
    n.total_blocks = kBlocks;
    n.smallest_bytes = 65536;
    n.largest_bytes = n.smallest_bytes << (kBlocks - 1);
    n.total_bytes = n.largest_bytes * 2 - n.smallest_bytes;
    n.peak_blocks = n.max_blocks = 2;
    n.peak_bytes = n.max_bytes = n.largest_bytes + n.largest_bytes / 2;
    n.lifetime_ns = kBlocks * kEachNs + (kBlocks - 1) * overlap_ns;
    Scene made;
    made.add({step, kWork, kMain}, n);
    made.host().sites.back().numbers.smallest_bytes = n.smallest_bytes;
    made.host().sites.back().numbers.largest_bytes = n.largest_bytes;
    if (has_stays) {
      for (uint32_t i = 0; i < kBlocks; ++i) made.host().sites.back().stays.push_back({i, i + 1, 65536u << i, 1});
      for (uint64_t bound = 0; bound <= 10; ++bound) made.host().bounds_ns.push_back(bound * kEachNs);
    }
    std::vector<Finding> all = made.found();
    std::erase_if(all, [](const Finding& finding) { return finding.kind != FindingKind::kOldAndNew; });
    return all;
  };
  const Step level{"make_level", "/src/image.cc", 7};
  CHECK(found(level, kEachNs / 2, true).empty());
  REQUIRE(found(level, kEachNs / 100, true).size() == 1);
  CHECK(found(level, kEachNs / 100, true)[0].is_by_sizes);
  REQUIRE(found(level, kEachNs / 2, false).size() == 1);  // not known
  CHECK(found(level, kEachNs / 2, false)[0].is_by_sizes);
  REQUIRE(found(insert, kEachNs / 2, true).size() == 1);
  CHECK_FALSE(found(insert, kEachNs / 2, true)[0].is_by_sizes);
}

TEST_CASE("a copy is a twin if blocks of its size are alive elsewhere") {
  const Step copy{"std::vector<int>::vector(std::vector<int> const&)", "/usr/include/c++/12/bits/stl_vector.h", 1};
  const Step load{"load", "/src/load.cc", 1};
  Scene scene;
  scene.add({load, kMain}, blocks(1, 3'000'001)).add({copy, kWork, kMain}, blocks(1, 3'000'001));
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kTwins);
  CHECK(scene.profile().frames[found[0].frame].function == "work()");
  CHECK(scene.profile().frames[found[0].other_frame].function == "load");
  CHECK_FALSE(found[0].is_by_sizes);
  // Of a size of its own; of the same size, but no copy; too small.
  CHECK(
      Scene().add({load, kMain}, blocks(1, 3'000'000)).add({copy, kWork, kMain}, blocks(1, 3'000'001)).kinds().empty());
  CHECK(Scene().add({load, kMain}, blocks(1, 3'000'001)).add({kWork, kMain}, blocks(1, 3'000'001)).kinds().empty());
  CHECK(
      Scene().add({load, kMain}, blocks(1, 1'000'000)).add({copy, kWork, kMain}, blocks(1, 1'000'000)).kinds().empty());
  // What one function makes for two callers.
  CHECK(Scene()
            .add({{"strdup", "", 0}, kWork, load, kMain}, blocks(9000, 400))
            .add({{"strdup", "", 0}, kWork, kMain}, blocks(9000, 400))
            .kinds()
            .empty());
  // Many small blocks of a whole tree.
  Scene tree;
  tree.add({load, kMain}, blocks(50'000, 40)).add({{"copy_tree", "/src/t.cc", 1}, kMain}, blocks(50'000, 40));
  REQUIRE(tree.kinds() == "twins");
  CHECK(tree.found()[0].is_by_sizes);
  // Most of the place's copies are by a function that is known to copy.
  Scene both;
  both.add({load, kMain}, blocks(1, 3'000'001)).add({load, kMain}, blocks(1, 2'000'001));
  both.add({copy, kWork, kMain}, blocks(1, 3'000'001)).add({{"copy_part", "", 0}, kWork, kMain}, blocks(1, 2'000'001));
  REQUIRE(both.kinds() == "twins");
  CHECK(both.found()[0].cost_bytes == 5'000'002);
  CHECK_FALSE(both.found()[0].is_by_sizes);
}

TEST_CASE("a file that is read to its end is found by the function that does so") {
  const Step whole{"g_file_get_contents", "", 0};
  CHECK(Scene().add({whole, kWork, kMain}, blocks(1, 2'000'000)).kinds() == "whole-file");
  CHECK(Scene().add({whole, kWork, kMain}, blocks(1, 1'000'000)).kinds().empty());
  CHECK(Scene().add({{"read_config", "/src/c.cc", 1}, kMain}, blocks(1, 2'000'000)).kinds().empty());
}

TEST_CASE("blocks of one size, one after another, are churn") {
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 4099)).kinds() == "churn");
  CHECK(Scene().add({kWork, kMain}, one_by_one(9'999, 4099)).kinds().empty());
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 4099, 10)).kinds() == "churn");
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 4099, 11)).kinds().empty());  // many alive at once
  CHECK(Scene().add({kWork, kMain}, one_by_one(1'000, 128 << 10)).kinds() == "churn");
  CHECK(Scene().add({kWork, kMain}, one_by_one(999, 128 << 10)).kinds().empty());
  CHECK(Scene().add({kWork, kMain}, one_by_one(9'999, (128 << 10) - 1)).kinds().empty());
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 64)).kinds().empty());  // small
  SizedNumbers different = one_by_one(10'000, 4099);
  different.total_bytes += 1;
  CHECK(Scene().add({kWork, kMain}, different).kinds().empty());
  different.total_bytes += 9'999;  // the mean is an integer again, but not the size of the one that was alive
  CHECK(Scene().add({kWork, kMain}, different).kinds().empty());
  // Few among many.
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 100)).add({kMain}, blocks(200'000, 1000)).kinds().empty());
}

TEST_CASE("storms of tiny blocks") {
  CHECK(Scene().add({kWork, kMain}, blocks(250'000, 40)).kinds() == "storm");
  CHECK(Scene().add({kWork, kMain}, blocks(249'999, 40)).kinds().empty());
  CHECK(Scene().add({kWork, kMain}, blocks(250'000, 65)).kinds().empty());
  CHECK(Scene().add({kWork, kMain}, blocks(250'000, 40)).add({kMain}, blocks(2'300'000, 100)).kinds().empty());
}

TEST_CASE("findings about memory come first, then what costs most time; ids stay from build to build") {
  const auto scene = [](uint32_t line) {
    Scene made;
    made.add({{"g_file_get_contents", "", 0}, kMain}, blocks(1, 2'000'000));
    made.add({{"work()", "/src/work.cc", line}, kMain}, one_by_one(20'000, 4099));
    made.add({{"work()", "/src/work.cc", line + 5}, kMain}, one_by_one(10'000, 77));
    return made.found();
  };
  const std::vector<Finding> first = scene(7);
  const std::vector<Finding> second = scene(9);
  REQUIRE(first.size() == 3);
  REQUIRE(second.size() == 3);
  CHECK(first[0].kind == FindingKind::kWholeFile);
  CHECK(first[0].cost_bytes == 2'000'000);
  CHECK(first[1].cost_bytes == 20'000 * 4099);
  CHECK(first[2].cost_bytes == 10'000 * 77);
  for (size_t i = 0; i < 3; ++i) CHECK(first[i].id == second[i].id);
  CHECK(first[2].id == first[1].id + ".2");
  CHECK(first[1].id == "0e4905d7");
}

TEST_CASE("files of other tools have no findings") {
  Profile profile = test::scene_profile();
  CHECK(can_have_findings(profile));
  profile.dialect = Dialect::kValgrind;
  CHECK_FALSE(can_have_findings(profile));
}
