// tests/unit/model/source_lines_test.cc: what the lines of a file asked for, against a walk up every site's stack.
#include "cli/model/analysis/source_lines.h"

#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

using Key = std::pair<std::string, uint32_t>;
struct Sums {
  uint64_t itself = 0;
  uint64_t called = 0;
};

std::map<Key, Sums> walked(const Profile& profile, const PlaceTree& tree, const Device& device, Metric metric,
                           const std::vector<bool>& frames) {
  std::map<Key, Sums> sums;
  const auto key_of = [&](uint32_t node) {
    const Frame& frame = profile.frames[profile.nodes[node].frame];
    return Key{frame.file, frame.line};
  };
  const auto is_asked = [&](uint32_t node) {
    const uint32_t frame = profile.nodes[node].frame;
    return node != 0 && frames[frame] && profile.frames[frame].line != 0 && !profile.frames[frame].file.empty();
  };
  for (const Site& site : device.sites) {
    PlaceNumbers numbers;
    numbers.add(site);
    const uint64_t amount = numbers.metric(metric);
    if (amount == 0) continue;
    std::set<Key> lines;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
      if (is_asked(node)) lines.insert(key_of(node));
    }
    for (const Key& line : lines) sums[line].called += amount;
    const uint32_t place = tree.place_node[site.node];
    if (is_asked(place)) sums[key_of(place)].itself += amount;
  }
  return sums;
}

void check_against_walk(const Profile& profile, const std::vector<bool>& frames) {
  const PlaceTree tree = build_place_tree(profile);
  for (const Device& device : profile.devices) {
    for (const Metric metric : kMetrics) {
      std::map<Key, Sums> want = walked(profile, tree, device, metric, frames);
      for (const SourceLines& file : find_source_lines(profile, tree, device, metric, frames)) {
        uint64_t itself = 0;
        for (const auto& [line, numbers] : file.lines) {
          INFO(file.file << ":" << line << " " << metric_word(metric));
          CHECK(numbers.itself == want[{file.file, line}].itself);
          CHECK(numbers.called == want[{file.file, line}].called);
          CHECK(numbers.itself <= numbers.called);
          CHECK((numbers.itself_blocks > 0) == (numbers.itself > 0));
          CHECK(profile.frames[numbers.frame].line == line);
          itself += numbers.itself;
          want.erase({file.file, line});
        }
        CHECK(file.itself == itself);
        CHECK(itself <= sum_of_sites(device).metric(metric));
      }
      CHECK(want.empty());
    }
  }
}

}  // namespace

TEST_CASE("lines have what a walk up every stack finds, recursion and inlined calls among them") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.seed = seed;
    Profile profile = seed == 1 ? scene_profile() : assembled(random_sample(shape));
    for (Device& device : profile.devices) {
      for (Site& site : device.sites) site.suppressed_by = random() % 3;
    }
    // Few lines, so that many stacks stand on one of them several times.
    for (Frame& frame : profile.frames) {
      frame.file = std::vector<std::string>{"/src/a.cc", "/src/b.cc", ""}[random() % 3];
      frame.line = random() % 4;
    }
    std::vector<bool> frames(profile.frames.size());
    for (uint32_t i = 0; i < frames.size(); ++i) frames[i] = random() % 4 != 0;
    check_against_walk(profile, frames);
  }
}

TEST_CASE("a source is meant by its file's name, or else by a function's") {
  Profile profile;
  const auto add = [&](const char* function, const char* file) {
    Frame frame;
    frame.function = function;
    frame.file = file;
    frame.line = 1;
    profile.frames.push_back(frame);
  };
  add("img::Tile::decode(int)", "/build/src/tile.cc");
  add("decode", "/build/src/decode");
  add("Loader.decode", "/app/load.py");
  add("decoder", "/build/other/tile.cc");
  const auto found = [&](const char* name) {
    std::string text;
    for (const bool is_found : find_source_frames(profile, name)) text += is_found ? 'x' : '.';
    return text;
  };
  CHECK(found("tile.cc") == "x..x");
  CHECK(found("src/tile.cc") == "x...");
  CHECK(found("/build/src/tile.cc") == "x...");
  CHECK(found("rc/tile.cc").empty());
  CHECK(found("decode") == ".x..");  // the file, and not the function
  CHECK(found("Tile::decode") == "x...");
  CHECK(found("img::Tile::decode") == "x...");
  CHECK(found("Loader.decode") == "..x.");
  CHECK(found("decode*") == ".x..");
  CHECK(found("decoder") == "...x");
  CHECK(found("nothing").empty());
  CHECK(found("").empty());
}
