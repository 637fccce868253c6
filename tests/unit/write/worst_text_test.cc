// tests/unit/write/worst_text_test.cc: the sentence of every kind of finding, and that it keeps to the width whatever
// functions, files and devices are called.
#include "cli/write/report/worst_text.h"

#include "cli/base/text.h"
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
                                  FindingKind::kStorm};

// Of the innermost frame of the site that was added last.
Finding finding_of(FindingKind kind, const Profile& profile) {
  Finding finding;
  finding.frame = static_cast<uint32_t>(profile.frames.size() - 1);
  finding.kind = kind;
  finding.has_frame = true;
  finding.cost_bytes = 20'510'000;
  finding.cost_blocks = 10'000;
  finding.over_ns = 2 * kSecond;
  finding.is_estimate = true;
  return finding;
}

std::string worst_of(const Profile& profile, const std::string& file, size_t columns) {
  const PlaceTree tree = build_place_tree(profile);
  return Worst(profile, tree).text(file, columns);
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
  CHECK(all.find(
            "19.6 MiB in 10,000 small blocks from work (work.cc:7) were never freed: free them after their last use") !=
        std::string::npos);
  Finding moved = finding_of(FindingKind::kCopies, profile);
  moved.is_estimate = false;
  CHECK(sentence(profile, moved).find("were moved while a block of work (work.cc:7) grew (realloc)") !=
        std::string::npos);
  Finding nameless = finding_of(FindingKind::kChurn, profile);
  nameless.has_frame = false;
  CHECK(sentence(profile, nameless).find("from code without a stack came and went") != std::string::npos);
  scene.profile().devices.emplace_back().name = "cuda:0";
  Finding elsewhere = finding_of(FindingKind::kTwins, profile);
  elsewhere.device = 1;
  CHECK(sentence(profile, elsewhere).find("work (work.cc:7) on cuda:0 is a copy") != std::string::npos);
}

TEST_CASE("the summary has the costliest, and the call that shows the others") {
  CHECK(worst_of(Scene().profile(), "a.json", 80).empty());
  const std::string one = worst_of(leaking({{"parse", 1000}}).profile(), "a.json", 120);
  CHECK(one ==
        "worst  1.91 MiB in 1,000 small blocks from parse (parse.cc:7) were never freed: free them after their last "
        "use, unless\n       kept on purpose\n");
  Scene scene = leaking({{"parse", 1000}, {"load", 3000}, {"index", 2000}});
  const std::string three = worst_of(scene.profile(), "a.json", 80);
  CHECK(three.starts_with("worst  5.72 MiB in 3,000 small blocks from load (load.cc:7)"));
  CHECK(three.ends_with("\n       2 more: heapprof report --findings a.json\n"));
  CHECK(worst_of(scene.profile(), "a.json", 40).ends_with("\n2 more: heapprof report --findings \\\n    a.json\n"));
  scene.profile().dialect = Dialect::kValgrind;
  CHECK(worst_of(scene.profile(), "a.json", 80).empty());
}

TEST_CASE("what was held comes before what only passed through") {
  Scene scene = leaking({{"load", 1000}});
  SizedNumbers n = blocks(2'000'000, 40);
  n.peak_bytes = 40;
  n.peak_blocks = 1;
  n.temporary_blocks = n.total_blocks;
  scene.add({{"spell", "/src/spell.cc", 3}, kMain}, n);
  scene.profile().devices[0].totals.peak_bytes = 2'000'040;
  CHECK(worst_of(scene.profile(), "a.json", 200).starts_with("worst  1.91 MiB in 1,000 small blocks from load"));
  // A leak that is no part of the peak to speak of is not the story.
  scene.profile().devices[0].totals.peak_bytes = 200'000'000;
  CHECK(
      worst_of(scene.profile(), "a.json", 200)
          .starts_with("worst  76.3 MiB from spell (spell.cc:3) in 2.00 M tiny blocks, freed at once: use one buffer"));
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
