// tests/unit/write/conclusion_test.cc: the sentence of every kind of finding, and that it keeps to the width whatever
// functions, files and devices are called.
#include "cli/write/report/conclusion.h"

#include "cli/base/text.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/places.h"
#include "cli/write/report/findings_words.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

constexpr FindingKind kKinds[] = {FindingKind::kGrowth,    FindingKind::kNeverFreed, FindingKind::kSmallNeverFreed,
                                  FindingKind::kStartPeak, FindingKind::kCopies,     FindingKind::kOldAndNew,
                                  FindingKind::kTwins,     FindingKind::kWholeFile,  FindingKind::kChurn,
                                  FindingKind::kStorm,     FindingKind::kSpike,      FindingKind::kBacklog};

// Of the innermost frame of the site that was added last.
Finding finding_of(FindingKind kind, const Profile& profile) {
  Finding finding;
  finding.frame = static_cast<uint32_t>(profile.frames.size() - 1);
  finding.kind = kind;
  finding.has_frame = true;
  finding.cost_bytes = finding.at_peak_bytes = 20'510'000;
  finding.cost_blocks = 10'000;
  finding.over_ns = 2 * kSecond;
  finding.is_estimate = true;
  return finding;
}

std::string worst_of(const Profile& profile, const std::string& file, size_t columns) {
  const PlaceTree tree = build_place_tree(profile);
  return Conclusion(profile, tree).text_with_call(file, columns);
}

std::string sentence(const Profile& profile, const Finding& finding, size_t word_columns = 73) {
  return finding_sentence(profile, finding, FrameNames(profile, build_place_tree(profile)), word_columns);
}

// Sites that leave so many blocks of 2,000 bytes, one function each.
Scene leaking(const std::vector<std::pair<std::string, uint64_t>>& functions) {
  Scene scene;
  for (const auto& [function, count] : functions) {
    SizedNumbers n = blocks(count, 2000, true);
    n.first_leak_ns = kSecond;
    n.last_leak_ns = 9 * kSecond;
    scene.add({{function, "/src/" + function + ".cc", 7}, kMain}, n);
  }
  return scene;
}

}  // namespace

TEST_CASE("a queue is a problem where a line of the source is known, and a large finding beside others") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(1000, 20'000));
  scene.host().totals.peak_bytes = 40'000'000;
  Finding queue = finding_of(FindingKind::kBacklog, scene.profile());
  CHECK(rank_of(scene.profile(), queue) == FindingRank::kPeak);
  scene.profile().frames[queue.frame].file.clear();  // an interpreter's allocator looks the same as it ends
  CHECK(rank_of(scene.profile(), queue) == FindingRank::kSmall);
  queue.kind = FindingKind::kSpike;
  CHECK(rank_of(scene.profile(), queue) == FindingRank::kPeak);
  queue.cost_bytes = 3'000'000;
  CHECK(rank_of(scene.profile(), queue) == FindingRank::kSmall);
}

TEST_CASE("arenas of Python's objects are not called a function") {
  Scene scene;
  scene.add({{"new_arena", "/src/Objects/obmalloc.c", 1641}, kMain}, blocks(60, 1 << 20));
  CHECK(worst_of(scene.profile(), "f.json", 200)
            .starts_with("most   arenas of Python's small objects (run --python-objects tells whose): 60.0 MiB of "));
}

TEST_CASE("of a run of less than a second it is said that the place grew, and it is called no problem") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(1000, 20'000)).live(rising(2'000'000));
  CHECK(worst_of(scene.profile(), "f.json", 200).starts_with("worst  work (work.cc:7) grew steadily"));
  scene.profile().run.duration_ns = kGrowthRunNs - 1;
  for (uint64_t& moment_ns : scene.host().moments_ns) moment_ns /= 11;
  const std::string text = worst_of(scene.profile(), "f.json", 200);
  CHECK(text.starts_with("most   work (work.cc:7): "));
  CHECK(text.find("; it grew to the end of the run\n") != std::string::npos);
}

TEST_CASE("growth in a few blocks is a remark, since it may be one container") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(kGrowthBlocks - 1, 1'000'000)).live(rising(2'000'000));
  const std::string text = worst_of(scene.profile(), "f.json", 200);
  CHECK(text.starts_with("most   work (work.cc:7): "));
  CHECK(text.find("; it grew to the end of the run\n") != std::string::npos);
}

TEST_CASE("arenas of Python's objects that grow are not called a function") {
  Scene scene;
  scene.add({{"new_arena", "/src/Objects/obmalloc.c", 1641}, kMain}, blocks(1000, 20'000)).live(rising(2'000'000));
  CHECK(worst_of(scene.profile(), "f.json", 200)
            .starts_with("worst  arenas of Python's small objects (run --python-objects tells whose) grew steadily"));
}

TEST_CASE("moves of mapped blocks cost no time, since glibc copies nothing then") {
  Finding moved;
  moved.kind = FindingKind::kCopies;
  moved.cost_blocks = 100;
  moved.cost_bytes = moved.cost_blocks * (4 << 20);
  CHECK(estimated_ns(moved) == 0);
  moved.is_estimate = true;  // a container copies, whatever the size
  CHECK(estimated_ns(moved) == moved.cost_bytes / 5);
  moved.is_estimate = false;
  --moved.cost_bytes;
  CHECK(estimated_ns(moved) == moved.cost_bytes / 5);
}

TEST_CASE("growth of a helper names the caller for which it grew") {
  const Step save{"save", "/src/save.cc", 4}, tick{"tick", "/src/tick.cc", 9}, load{"load", "/src/load.cc", 2};
  const auto conclusion = [&](uint64_t tick_step_bytes) {
    Scene scene;
    scene.add({save, load, kMain}, blocks(100, 20'000)).live(rising(200'000, 1));
    scene.add({save, kWork, kMain}, blocks(1000, 20'000)).live(rising(2'000'000));
    scene.add({save, tick, kMain}, blocks(1000, 20'000)).live(rising(tick_step_bytes));
    return worst_of(scene.profile(), "f.json", 200);
  };
  CHECK(conclusion(200'000).find("s, 91 % of it for work (work.cc:7): bound it") != std::string::npos);
  CHECK(conclusion(1'800'000).find(" of it for ") == std::string::npos);
  Scene one;
  one.add({save, load, kMain}, blocks(100, 20'000)).live(std::vector<uint64_t>(10, 2'000'000));
  one.add({save, kWork, kMain}, blocks(1000, 20'000)).live(rising(2'000'000));
  CHECK(worst_of(one.profile(), "f.json", 200).find("s, all of it for work (work.cc:7): bound it") !=
        std::string::npos);
}

TEST_CASE("the sentence of every kind says cost, place, kind and what helps") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(1, 1));
  const Profile& profile = scene.profile();
  std::string all;
  for (const FindingKind kind : kKinds) {
    const std::string text = sentence(profile, finding_of(kind, profile));
    all += text + "\n";
    CHECK(text.find("19.6 MiB") != std::string::npos);
    CHECK(text.find("(work.cc:7)") != std::string::npos);
    CHECK(text.find(": ") != std::string::npos);
  }
  CHECK(all.find("work (work.cc:7) left 19.6 MiB in 10,000 small blocks, live at exit: free them") !=
        std::string::npos);
  Finding late = finding_of(FindingKind::kGrowth, profile);
  late.older_frees = 9'000;
  CHECK(sentence(profile, late)
            .find("+19.6 MiB in 2.00 s, while 9,000 blocks that were not recorded were freed, "
                  "which it may only have replaced: bound it") != std::string::npos);
  Finding moved = finding_of(FindingKind::kCopies, profile);
  moved.is_estimate = false;
  CHECK(sentence(profile, moved).find("work (work.cc:7) moved 19.6 MiB while a block grew (realloc)") !=
        std::string::npos);
  Finding nameless = finding_of(FindingKind::kChurn, profile);
  nameless.has_frame = false;
  CHECK(sentence(profile, nameless).find("code without a stack allocates 10,000 blocks of one size") !=
        std::string::npos);
  scene.profile().devices.emplace_back().name = "cuda:0";
  Finding elsewhere = finding_of(FindingKind::kTwins, profile);
  elsewhere.device = 1;
  CHECK(
      sentence(profile, elsewhere).find("look held twice: work (work.cc:7) on cuda:0 copies, and blocks of the same") !=
      std::string::npos);
  elsewhere.is_by_sizes = true;
  CHECK(
      sentence(profile, elsewhere).find("may be held twice: work (work.cc:7) on cuda:0 copies, to judge by the name") !=
      std::string::npos);
}

TEST_CASE("advice is in the language of the place's source file") {
  const auto advice = [](FindingKind kind, const char* function, const char* file, bool is_estimate) {
    Scene scene;
    scene.add({{function, file, 7}, kMain}, blocks(1, 1));
    Finding finding = finding_of(kind, scene.profile());
    finding.frame = 0;
    while (scene.profile().frames[finding.frame].function != function) ++finding.frame;
    finding.is_estimate = is_estimate;
    return sentence(scene.profile(), finding);
  };
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  CHECK(has(advice(FindingKind::kOldAndNew, "load(int)", "/src/a.cc", true), "call reserve() with the final size"));
  CHECK(has(advice(FindingKind::kOldAndNew, "load", "/src/a.c", true), "; allocate the final size"));
  CHECK(has(advice(FindingKind::kOldAndNew, "app::load", "/src/a.rs", true), "with_capacity()"));
  CHECK(has(advice(FindingKind::kOldAndNew, "load", "/src/a.h", true), "; allocate the final size"));
  CHECK(has(advice(FindingKind::kOldAndNew, "load(int)", "/src/a.h", true), "call reserve()"));
  CHECK(has(advice(FindingKind::kOldAndNew, "app::load", "", true), "; allocate the final size"));  // Rust's, perhaps
  CHECK(has(advice(FindingKind::kCopies, "load(int)", "/src/a.cc", false), ": allocate the final size, or double it"));
  Scene scene;
  scene.add({kWork, kMain}, blocks(1, 1));
  Finding doubled = finding_of(FindingKind::kCopies, scene.profile());
  doubled.is_estimate = false;
  doubled.cost_blocks = 64;
  CHECK_FALSE(has(sentence(scene.profile(), doubled), "double it"));
  Finding left = finding_of(FindingKind::kSmallNeverFreed, scene.profile());
  CHECK(has(sentence(scene.profile(), left), "run --leak-check"));
  scene.profile().run.leak_check.is_asked = true;
  CHECK_FALSE(has(sentence(scene.profile(), left), "run --leak-check"));
  Finding tensors = finding_of(FindingKind::kGrowth, scene.profile());
  CHECK_FALSE(has(sentence(scene.profile(), tensors), ".detach()"));
  tensors.is_of_tensors = true;
  CHECK(has(sentence(scene.profile(), tensors), ".item(), .detach() or torch.no_grad()"));
}

TEST_CASE("the summary has the costliest, and the call that shows the others") {
  CHECK(worst_of(Scene().profile(), "a.json", 80).empty());
  const std::string one = worst_of(leaking({{"parse", 1000}}).profile(), "a.json", 120);
  CHECK(one ==
        "worst  parse (parse.cc:7) left 1.91 MiB in 1,000 small blocks, live at exit: free them, or keep them on "
        "purpose (run\n       --leak-check tells which can still be reached)\n");
  Scene scene = leaking({{"parse", 1000}, {"load", 3000}, {"index", 2000}});
  const std::string three = worst_of(scene.profile(), "a.json", 80);
  CHECK(three.starts_with("worst  load (load.cc:7) left 5.72 MiB in 3,000 small blocks"));
  CHECK(three.ends_with("\n       2 more: heapprof report --findings a.json\n"));
  CHECK(worst_of(scene.profile(), "a.json", 40).ends_with("\n2 more: heapprof report --findings \\\n    a.json\n"));
  scene.profile().dialect = Dialect::kValgrind;
  CHECK(worst_of(scene.profile(), "a.json", 80).empty());
}

TEST_CASE("what was held comes before what only passed through") {
  Scene scene = leaking({{"load", 1000}});
  SizedNumbers n = blocks(12'000'000, 40);
  n.peak_bytes = n.max_bytes = 40;
  n.peak_blocks = n.max_blocks = 1;
  n.temporary_blocks = n.total_blocks;
  scene.add({{"spell", "/src/spell.cc", 3}, kMain}, n);
  scene.profile().devices[0].totals.peak_bytes = 2'000'040;
  CHECK(worst_of(scene.profile(), "a.json", 200).starts_with("worst  load (load.cc:7) left 1.91 MiB in 1,000"));
  const std::string spell = "time   spell (spell.cc:3) makes 12.0 M short-lived tiny allocations (458 MiB): reuse one";
  CHECK(worst_of(scene.profile(), "a.json", 200).find('\n' + spell) != std::string::npos);
  // A leak that is no part of the peak to speak of is not the story.
  scene.profile().devices[0].totals.peak_bytes = 400'000'000;
  CHECK(worst_of(scene.profile(), "a.json", 200).starts_with(spell));
  // Nor is what takes next to no time: in a run of any length.
  scene.profile().run.duration_ns = 100 * kSecond;
  CHECK(worst_of(scene.profile(), "a.json", 200).find("time ") == std::string::npos);
}

TEST_CASE("where no problem is known the summary names what a third of the peak is made of") {
  const auto scene = [](uint64_t count) {
    SizedNumbers n = blocks(count, 100'000);
    n.lifetime_ns = count * kSecond * 2;
    Scene made;
    made.add({kWork, kMain}, n).add({{"load", "/src/load.cc", 2}, kMain}, blocks(1, 10'000'000));
    return made;
  };
  CHECK(worst_of(scene(100).profile(), "a.json", 200) ==
        "most   work (work.cc:7): 9.54 MiB of the peak of 19.1 MiB, 100 blocks, live for an average of 2.00 s\n");
  CHECK(worst_of(scene(300).profile(), "a.json", 200).starts_with("most   work (work.cc:7): 28.6 MiB of the peak"));
  Scene sampled = scene(100);
  sampled.profile().run.sampling.interval_bytes = 512 << 10;
  CHECK(worst_of(sampled.profile(), "a.json", 200)
            .starts_with("most   work (work.cc:7): about 9.54 MiB of the peak of about 19.1 MiB, about 100 blocks"));
  // The resident set was never half as large as the place: most of it was never touched.
  Scene untouched = scene(300);
  untouched.host().totals.resident_max_bytes = 10'000'000;
  CHECK(worst_of(untouched.profile(), "a.json", 200) ==
        "most   work (work.cc:7): 28.6 MiB of the peak of 38.1 MiB, 300 blocks, but the process had at most 9.54 MiB "
        "resident (sampled): 19.1 MiB or more were in no sample\n");
  untouched.host().totals.resident_max_bytes = 20'000'000;
  CHECK(worst_of(untouched.profile(), "a.json", 200).find("sample") == std::string::npos);
  CHECK(worst_of(Scene().add({kWork, kMain}, blocks(1, 8'000'000)).profile(), "a.json", 200).empty());  // small
}

TEST_CASE("the sentence keeps to the width, and names reach the terminal harmless") {
  const std::string wide(300, 'w');
  for (const std::string& name :
       {wide, "ns::Table<" + wide + ">::insert(int)", std::string("a\x1b[2Jb\n\xe2\x80\xae")}) {
    Scene scene = leaking({{name, 1000}});
    scene.profile().devices.emplace_back().name = name;
    for (const size_t columns : {size_t{40}, size_t{60}, size_t{80}, size_t{200}}) {
      for (const FindingKind kind : kKinds) {
        Finding finding = finding_of(kind, scene.profile());
        finding.device = 1;
        std::istringstream words(sentence(scene.profile(), finding, columns - 7));
        for (std::string word; std::getline(words, word, ' ');) CHECK(display_width(word) <= columns - 7);
      }
      std::istringstream lines(worst_of(scene.profile(), "a.json", columns));
      for (std::string line; std::getline(lines, line);) {
        CHECK(display_width(line) <= columns);
        CHECK(escape_controls(line) == line);
      }
    }
  }
}
