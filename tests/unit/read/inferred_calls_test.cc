// tests/unit/read/inferred_calls_test.cc: where functions may have left a stack, and how they come back into it and
// into files.
#include "cli/model/profile/inferred_calls.h"

#include "cli/model/profile/assemble.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/name_frames.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr uint64_t kMain = 101, kLeft = 102, kLeaf = 103, kWrap = 104;  // functions' keys

// main calls left at 0x100, which jumps to leaf; leaf allocates at 0x200. main calls wrap at 0x110, which jumps to
// malloc. In another module lies operator new.
struct Program {
  Recording recording;
  SymbolTable symbols;
  Program() {
    recording.modules = {{"/bin/program", "0123456789abcdef", 0, nullptr},
                         {"/lib/libstdc++.so.6", "fedcba9876543210", 0, nullptr}};
    add_location({0, 0x100}, "main", {kMain, kLeft});
    add_location({0, 0x200}, "leaf", {kLeaf, CallKeys::kAllocator});
    add_location({0, 0x110}, "main", {kMain, kWrap});
    add_location({1, 0x300}, "operator new(unsigned long)", {});
    recording.stacks = {{0, 0}, {0, 0}, {1, 1}, {0, 2}, {3, 3}};
    recording.devices.resize(1);
    symbols.inferred[{0, 0x100, 0x200}] = {{0x151, {{"inside", "/a.c", 5, true}, {"left", "/a.c", 9, false}}}};
    symbols.inferred[{0, 0x110, 0}] = {{0x161, {{"outer_wrap", "/a.c", 20, false}}},
                                       {0x171, {{"wrap", "/a.c", 30, false}}}};
  }
  void add_location(const Location& location, const std::string& function, const CallKeys& keys) {
    recording.locations.push_back(location);
    symbols.frames.push_back({{function, "/main.c", static_cast<uint32_t>(location.svma), false}});
    symbols.calls.push_back(keys);
  }
  void add_site(uint32_t stack, uint64_t bytes) {
    RecordedDevice& device = recording.devices[0];
    RecordedSite site;
    site.stack = stack;
    site.numbers.total_bytes = site.numbers.peak_bytes = site.numbers.max_bytes = site.numbers.leaked_bytes = bytes;
    site.numbers.total_blocks = site.numbers.peak_blocks = site.numbers.max_blocks = site.numbers.leaked_blocks = 1;
    site.numbers.smallest_bytes = site.numbers.largest_bytes = bytes;
    device.sites.push_back(site);
    device.totals.total_bytes += bytes;
    device.totals.peak_bytes += bytes;
    device.totals.leaked_bytes += bytes;
    ++device.totals.total_blocks;
    ++device.totals.peak_blocks;
    ++device.totals.max_blocks;
    ++device.totals.leaked_blocks;
  }
  void infer() { add_inferred_calls(&recording, &symbols); }
};

// Innermost first, inferred ones in brackets.
std::vector<std::string> stacks_of(const Profile& profile) {
  std::vector<std::string> all;
  for (const Site& site : profile.devices[0].sites) {
    std::string text;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
      const Frame& frame = profile.frames[profile.nodes[node].frame];
      text += (text.empty() ? "" : " < ") + (frame.inferred ? "[" + frame.function + "]" : frame.function);
    }
    all.push_back(text);
  }
  return all;
}

std::string written(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

using Stacks = std::vector<std::string>;
using Pairs = std::vector<CallPair>;

}  // namespace

TEST_CASE("what is next to each other in stacks is a pair once, within a module") {
  Program program;
  program.add_site(2, 9);
  program.add_site(2, 9);
  program.add_site(3, 8);
  CHECK(find_neighbours(program.recording) == Pairs{{0, 0x100, 0x200}, {0, 0x110, 0}, {0, 0x200, 0}});
  SECTION("also where the last is operator new of the C++ runtime") {
    program.add_site(4, 7);
    CHECK(find_neighbours(program.recording) == Pairs{{0, 0x100, 0x200}, {0, 0x110, 0}, {0, 0x200, 0}, {1, 0x300, 0}});
    program.recording.devices[0].sites.erase(program.recording.devices[0].sites.begin() + 2);  // only through it
    CHECK(find_neighbours(program.recording) == Pairs{{0, 0x100, 0x200}, {0, 0x110, 0}, {0, 0x200, 0}, {1, 0x300, 0}});
    program.recording.modules[1].path = "/lib/libother.so";
    CHECK(find_neighbours(program.recording) == Pairs{{0, 0x100, 0x200}, {0, 0x200, 0}, {1, 0x300, 0}});
  }
  SECTION("nodes and modules that are not there have none") {
    program.recording.stacks[2].location = 77;
    program.recording.locations[2].module = kNoModule;
    program.add_site(99, 1);
    CHECK(find_neighbours(program.recording).empty());
  }
}

TEST_CASE("a pair is open only where another function stands than the one that was called") {
  CHECK(is_open_call({kMain, kLeft}, {kLeaf, 0}));
  CHECK_FALSE(is_open_call({kMain, kLeft}, {kLeft, 0}));
  CHECK_FALSE(is_open_call({kMain, 0}, {kLeaf, 0}));      // called through a pointer
  CHECK_FALSE(is_open_call({kMain, kLeft}, {0, kLeaf}));  // nobody knows what was found
  CHECK(is_open_call({kMain, CallKeys::kAllocator}, {kLeaf, 0}));
  CHECK(is_open_call({kMain, kWrap}));
  CHECK_FALSE(is_open_call({kMain, CallKeys::kAllocator}));
  CHECK_FALSE(is_open_call({kMain, 0}));
}

TEST_CASE("without what is called nothing is put in") {
  Program program;
  program.add_site(2, 9);
  SECTION("it is that function") { program.symbols.calls[1].function = kLeft; }
  SECTION("nothing is known of the call") { program.symbols.calls[0].target = 0; }
  SECTION("nothing is known of any call") { program.symbols.calls.clear(); }
  SECTION("the frames are of two modules") { program.recording.locations[1].module = 1; }
  program.infer();
  CHECK(stacks_of(assemble(program.recording, program.symbols)) == Stacks{"leaf < main"});
}

TEST_CASE("operator new in another module is the allocation itself") {
  Program program;
  program.add_site(4, 8);
  program.infer();
  CHECK(stacks_of(assemble(program.recording, program.symbols)) ==
        Stacks{"operator new(unsigned long) < [wrap] < [outer_wrap] < main"});
}

TEST_CASE("inferred frames stand between those that they were inferred from, and no number changes") {
  Program program;
  program.add_site(2, 9);
  program.add_site(3, 8);
  const Profile before = assemble(program.recording, program.symbols);
  CHECK(stacks_of(before) == Stacks{"leaf < main", "main"});
  program.infer();
  const Profile after = assemble(program.recording, program.symbols);
  CHECK(stacks_of(after) == Stacks{"leaf < [inside] < [left] < main", "[wrap] < [outer_wrap] < main"});
  CHECK(find_violations(after).empty());
  CHECK(after.devices[0].sites[0].numbers.total_bytes == 9);
  CHECK(after.devices[0].totals.peak_bytes == before.devices[0].totals.peak_bytes);
  for (const Frame& frame : after.frames) {
    if (frame.function == "left" || frame.function == "inside") CHECK(frame.svma == 0x150);
    CHECK(frame.inlined == (frame.function == "inside"));
  }
  SECTION("and are there once") {
    for (size_t i = 1; i < program.recording.stacks.size(); ++i) CHECK(program.recording.stacks[i].parent < i);
    program.symbols.inferred.clear();
    program.infer();
    CHECK(written(assemble(program.recording, program.symbols)) == written(after));
  }
}

TEST_CASE("a stack that goes on from an allocation keeps its frames") {
  Program program;
  // main calls wrap, which jumps to malloc; and, at the same place in another run of it, to leaf.
  program.symbols.inferred[{0, 0x110, 0x200}] = {{0x161, {{"outer_wrap", "/a.c", 20, false}}}};
  program.recording.stacks = {{0, 0}, {0, 2}, {1, 1}};
  program.add_site(1, 9);
  program.add_site(2, 8);
  program.infer();
  CHECK(stacks_of(assemble(program.recording, program.symbols)) ==
        Stacks{"[wrap] < [outer_wrap] < main", "leaf < [outer_wrap] < main"});
}

TEST_CASE("stacks outside of the sites get the frames between, as they were not allocations") {
  Program program;
  program.add_site(2, 9);
  Refusal refusal;
  refusal.node = 2;
  refusal.count = 1;
  program.recording.devices[0].refusals.push_back(refusal);
  program.infer();
  const Profile profile = assemble(program.recording, program.symbols);
  REQUIRE(profile.devices[0].refusals.size() == 1);
  CHECK(profile.devices[0].refusals[0].node == profile.devices[0].sites[0].node);
}

TEST_CASE("a broken recording is left as it is") {
  Program program;
  program.add_site(2, 9);
  program.add_site(77, 8);
  SECTION("a parent behind its child") { program.recording.stacks[1].parent = 2; }
  SECTION("a location that is not there") { program.recording.stacks[1].location = 4; }
  const size_t locations = program.recording.locations.size();
  program.infer();
  CHECK(program.recording.locations.size() == locations);
}

TEST_CASE("the mark is written and read") {
  Program program;
  program.add_site(2, 9);
  program.add_site(3, 8);
  program.infer();
  const std::string text = written(assemble(program.recording, program.symbols));
  CHECK(text.find("\"inferred\":[") != std::string::npos);
  TextSource source(text);
  const Result<Profile> read = read_profile(&source, "written");
  REQUIRE(read);
  CHECK(stacks_of(*read) == Stacks{"leaf < [inside] < [left] < main", "[wrap] < [outer_wrap] < main"});
  CHECK(written(*read) == text);
  SECTION("and refused where there is no such frame") {
    std::string forged = text;
    forged.replace(forged.find("\"inferred\":[") + 12, 1, "99");
    TextSource other(forged);
    CHECK_FALSE(read_profile(&other, "forged"));
  }
}

TEST_CASE("frames that are inferred later are, to the byte, those that were inferred at once") {
  Program program;
  program.add_site(2, 9);
  program.add_site(3, 8);
  program.add_site(4, 7);
  SymbolTable none;
  none.frames.resize(program.recording.locations.size());
  const std::string bare = written(assemble(program.recording, none));
  Program named = program;
  named.infer();
  const std::string want = written(assemble(named.recording, named.symbols));

  TextSource source(bare);
  Result<Profile> profile = read_profile(&source, "bare");
  REQUIRE(profile);
  for (int i = 0; i < 2; ++i) {
    const NamelessFrames nameless = find_nameless_frames(*profile);
    SymbolTable table;
    for (const Location& wanted : nameless.locations) {
      for (size_t known = 0; known < 4; ++known) {
        if (program.recording.locations[known].svma != wanted.svma) continue;
        table.frames.push_back(program.symbols.frames[known]);
        table.calls.push_back(program.symbols.calls[known]);
      }
    }
    REQUIRE(table.frames.size() == nameless.locations.size());
    if (i == 0) {
      const Pairs neighbours = find_neighbours(nameless, *profile);
      for (const auto& [pair, path] : program.symbols.inferred)
        CHECK(std::find(neighbours.begin(), neighbours.end(), pair) != neighbours.end());
    }
    table.inferred = program.symbols.inferred;
    add_names(nameless, table, &*profile);
    CHECK(find_violations(*profile).empty());
    CHECK(written(*profile) == want);
  }
}
