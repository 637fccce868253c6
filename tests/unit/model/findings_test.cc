// tests/unit/model/findings_test.cc: each rule at its thresholds, on both sides; order and names of what is found.
#include "cli/model/analysis/findings.h"

#include "cli/model/analysis/finding_rules.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
using Step = test::ScenePlan::Step;

const Step kMain{"main", "/src/main.cc", 3};
const Step kWork{"work()", "/src/work.cc", 7};

// Blocks of one size that are live at the peak, and all of them if `leaked`.
SiteNumbers blocks(uint64_t count, uint64_t each_bytes, bool leaked = false) {
  SiteNumbers n;
  n.total_blocks = n.peak_blocks = n.max_blocks = count;
  n.total_bytes = n.peak_bytes = n.max_bytes = count * each_bytes;
  n.sizes[static_cast<size_t>(size_bucket(each_bytes))] = count;
  if (leaked) n.leaked_blocks = count;
  if (leaked) n.leaked_bytes = count * each_bytes;
  return n;
}

// So many blocks, one after another.
SiteNumbers one_by_one(uint64_t count, uint64_t each_bytes, uint64_t at_once = 1) {
  SiteNumbers n = blocks(count, each_bytes);
  n.peak_blocks = n.max_blocks = at_once;
  n.peak_bytes = n.max_bytes = at_once * each_bytes;
  n.temporary_blocks = count;
  return n;
}

class Scene {
 public:
  Scene() {
    plan_.add_device("host");
    plan_.profile().run.duration_ns = 10 * kSecond;
  }
  Scene& add(std::initializer_list<Step> innermost_first, const SiteNumbers& numbers) {
    plan_.add_site(innermost_first, numbers);
    Site& site = host().sites.back();
    if (numbers.max_bytes > 0) site.numbers.max_bytes = numbers.max_bytes;
    return *this;
  }
  // Of the site added last, at 1 s, 2 s … 10 s.
  Scene& live(const std::vector<uint64_t>& bytes) {
    host().moments_ns.clear();
    for (size_t i = 0; i < bytes.size(); ++i) host().moments_ns.push_back((i + 1) * 10 * kSecond / bytes.size());
    host().sites.back().live_bytes = bytes;
    return *this;
  }
  Device& host() { return plan_.profile().devices[0]; }
  Profile& profile() { return plan_.profile(); }
  std::vector<Finding> found() { return find_findings(profile(), build_place_tree(profile())); }
  std::string kinds() {
    std::string kinds;
    for (const Finding& finding : found())
      kinds += (kinds.empty() ? "" : " ") + std::string(finding_name(finding.kind));
    return kinds;
  }

 private:
  test::ScenePlan plan_;
};

std::vector<uint64_t> rising(uint64_t step_bytes, size_t until = 10) {
  std::vector<uint64_t> bytes;
  for (size_t i = 1; i <= 10; ++i) bytes.push_back(step_bytes * std::min(i, until));
  return bytes;
}

}  // namespace

TEST_CASE("growth is found if it goes on in every quarter of the run") {
  const auto kinds = [](const std::vector<uint64_t>& bytes, uint64_t leaked = 1000) {
    SiteNumbers n = blocks(leaked, 1000, true);
    n.last_leak_ns = 10 * kSecond;
    return Scene().add({kWork, kMain}, n).live(bytes).kinds();
  };
  CHECK(kinds(rising(100'000)) == "growth");
  CHECK(kinds(rising(100'000, 7)).empty());                      // full after 70 %
  CHECK(kinds({1, 2, 3, 4, 5, 6, 7, 8, 9, 1'000'000}).empty());  // only its end
  CHECK(kinds({1000, 2000, 4000, 8000, 16'000, 32'000, 64'000, 128'000, 256'000, 1'000'000}).empty());  // doubles
  CHECK(kinds(rising(0, 10)).empty());
  CHECK(kinds({0, 900'000, 0, 900'000, 0, 900'000, 0, 900'000, 0, 900'000}).empty());  // goes up and down
  CHECK(kinds(rising(100'000), 31).empty());                                           // too few blocks
  CHECK(kinds({100'000, 300'000, 500'000, 700'000, 900'000, 1'000'000}).empty());      // too few moments
}

TEST_CASE("growth that is small, short, or explained is not found") {
  const auto grown = [](uint64_t step_bytes) {
    Scene scene;
    scene.add({kWork, kMain}, blocks(1000, step_bytes / 100, true)).live(rising(step_bytes));
    return scene;
  };
  CHECK(grown(40'000).kinds() == "growth");
  CHECK(grown(29'000).kinds().empty());  // below 256 KiB after the first tenth
  Scene brief = grown(100'000);
  brief.profile().run.duration_ns = kGrowthRunNs - 1;
  for (uint64_t& moment_ns : brief.host().moments_ns) moment_ns /= 11;
  CHECK(brief.kinds().empty());
  CHECK(find_unasked(brief.profile(), "") == std::vector<Unasked>{{FindingKind::kGrowth, ""}});
  Scene known = grown(100'000);
  known.host().sites[0].suppressed_by = 1;
  CHECK(known.kinds().empty());
  Scene beside = grown(40'000);
  beside.add({{"table", "/src/t.cc", 1}, kMain}, blocks(1, 100'000'000));
  CHECK(beside.kinds().empty());  // below 1 % of the peak
}

TEST_CASE("a device whose sites are not looked at over time is said not to be asked for growth") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(100, 40'000)).live(rising(40'000));
  CHECK(find_unasked(scene.profile(), "").empty());
  scene.profile().devices.emplace_back().name = "cuda:0";
  CHECK(find_unasked(scene.profile(), "") == std::vector<Unasked>{{FindingKind::kGrowth, "cuda:0"}});
  CHECK(find_unasked(scene.profile(), "cuda:0") == std::vector<Unasked>{{FindingKind::kGrowth, ""}});
  CHECK(find_unasked(scene.profile(), "host").empty());
}

TEST_CASE("what grows is summed over the callers of a place, and an orderly end does not hide it") {
  Scene scene;
  scene.add({kWork, {"a", "/src/a.cc", 1}, kMain}, blocks(20, 10'000)).live(rising(50'000));
  scene.add({kWork, {"b", "/src/b.cc", 1}, kMain}, blocks(20, 10'000)).live(rising(50'000));
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost_bytes == 900'000);
  CHECK(found[0].over_ns == 9 * kSecond);
}

TEST_CASE("large blocks that are never freed are found if they are several, over the run and up to its end") {
  const auto kinds = [](uint64_t count, uint64_t each_bytes, uint64_t first_ns, uint64_t last_ns) {
    SiteNumbers n = blocks(count, each_bytes, true);
    n.first_leak_ns = first_ns;
    n.last_leak_ns = last_ns;
    return Scene().add({kWork, kMain}, n).kinds();
  };
  CHECK(kinds(4, 300'000, kSecond, 9 * kSecond) == "never-freed");
  CHECK(kinds(3, 400'000, kSecond, 9 * kSecond).empty());
  CHECK(kinds(100, 60'000, kSecond, 9 * kSecond).empty());     // not large
  CHECK(kinds(4, 200'000, kSecond, 9 * kSecond).empty());      // not much
  CHECK(kinds(4, 300'000, kSecond, 7 * kSecond).empty());      // a cache that is full
  CHECK(kinds(4, 300'000, 8 * kSecond, 9 * kSecond).empty());  // of one moment
}

TEST_CASE("a program that was stopped leaves nothing to say about what it never freed") {
  SiteNumbers n = blocks(4, 300'000, true);
  n.last_leak_ns = 9 * kSecond;
  Scene scene;
  scene.add({kWork, kMain}, n);
  REQUIRE(scene.kinds() == "never-freed");
  scene.profile().run.end = {EndKind::kSignaled, 15};
  CHECK(scene.kinds().empty());
  CHECK(find_unasked(scene.profile(), "").back().kind == FindingKind::kNeverFreed);
}

TEST_CASE("bytes that realloc moved, and half of what a growing vector allocated, are copies") {
  SiteNumbers moved = blocks(100, 100'000);
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
  CHECK(Scene()
            .add({load, kMain}, blocks(50'000, 40))
            .add({{"copy_tree", "/src/t.cc", 1}, kMain}, blocks(50'000, 40))
            .kinds() == "twins");
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
  CHECK(Scene().add({kWork, kMain}, one_by_one(10'000, 64)).kinds().empty());        // small
  SiteNumbers different = one_by_one(10'000, 4099);
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

TEST_CASE("findings are in the order of their shares, and keep their ids from build to build") {
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
  CHECK(first[1].cost_blocks == 20'000);
  CHECK(first[2].cost_blocks == 10'000);
  for (size_t i = 0; i < 3; ++i) CHECK(first[i].id == second[i].id);
  CHECK(first[2].id == first[1].id + ".2");
  CHECK(first[1].id == "churn-0e4905d7");
}

TEST_CASE("files of other tools have no findings") {
  Profile profile = test::scene_profile();
  CHECK(can_have_findings(profile));
  profile.dialect = Dialect::kValgrind;
  CHECK_FALSE(can_have_findings(profile));
}
