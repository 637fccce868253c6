// tests/unit/read/named_later_test.cc: a profile that gets its names after it was written is, to the byte, the one
// that had them from the start.
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/name_frames.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string written(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

// As from a file.
Profile read_back(const Profile& profile) {
  const std::string text = written(profile);
  TextSource source(text);
  Result<Profile> read = read_profile(&source, "written");
  REQUIRE(read);
  return std::move(*read);
}

// The names of the sample's locations, where `is_known` has them; code without a module has its own always.
SymbolTable some(const test::Sample& sample, const std::function<bool(size_t location)>& is_known) {
  SymbolTable table = sample.symbols;
  for (size_t i = 0; i < table.frames.size(); ++i) {
    if (sample.recording.locations[i].module != kNoModule && !is_known(i)) table.frames[i].clear();
  }
  return table;
}

// Names the profile as a symbolizer would that knows these of the sample's locations.
std::vector<NamedFrames> name(const test::Sample& sample, const std::function<bool(size_t location)>& is_known,
                              Profile* profile) {
  const NamelessFrames nameless = find_nameless_frames(*profile);
  SymbolTable table;
  for (const Location& wanted : nameless.locations) {
    const Module& module = nameless.modules[wanted.module];
    std::vector<SourceFrame>& frames = table.frames.emplace_back();
    for (size_t i = 0; i < sample.recording.locations.size(); ++i) {
      const Location& known = sample.recording.locations[i];
      if (known.module == kNoModule || known.svma != wanted.svma || !is_known(i)) continue;
      if (sample.recording.modules[known.module].path == module.path) frames = sample.symbols.frames[i];
    }
  }
  return add_names(nameless, table, profile);
}

const auto kAll = [](size_t) { return true; };
const auto kNone = [](size_t) { return false; };

void check_named_later(const test::Sample& sample) {
  const std::string want = written(assemble(sample.recording, sample.symbols));
  Profile profile = read_back(assemble(sample.recording, some(sample, kNone)));
  REQUIRE(written(profile) != want);
  name(sample, kAll, &profile);
  CHECK(find_violations(profile).empty());
  CHECK(written(profile) == want);
  SECTION("twice is once") {
    profile = read_back(profile);
    for (const NamedFrames& named : name(sample, kAll, &profile)) CHECK(named.functions_found == 0);
    CHECK(written(profile) == want);
  }
  SECTION("in steps, in any order") {
    const auto is_first = [](size_t i) { return i % 3 == 0; };
    const auto is_second = [](size_t i) { return i % 3 != 0; };
    Profile one = read_back(assemble(sample.recording, some(sample, is_first)));
    name(sample, is_second, &one);
    CHECK(written(one) == want);
    Profile two = read_back(assemble(sample.recording, some(sample, is_second)));
    name(sample, is_first, &two);
    CHECK(written(two) == want);
  }
  SECTION("no names change nothing") {
    const std::string text = written(profile);
    name(sample, kNone, &profile);
    CHECK(written(profile) == text);
  }
}

// A stack of main, and an allocation in a function at 0x2000.
test::Sample two_frames() {
  test::Sample sample;
  Recording& r = sample.recording;
  r.run = test::sample_run();
  r.modules = {{"/opt/app/render", "c0ffee", 0, nullptr}};
  r.locations = {{0, 0x1001}, {0, 0x2001}};
  r.stacks = {{0, 0}, {0, 0}, {1, 1}};
  RecordedDevice host;
  test::Ledger ledger(&host, 1'000'000'000);
  ledger.finish({ledger.allocate(ledger.add_site(2), 1235, 1'000)}, r.run.duration_ns);
  r.devices = {std::move(host)};
  sample.symbols.frames.resize(2);
  return sample;
}

std::vector<std::string> functions(const Profile& profile) {
  std::vector<std::string> names;
  for (uint32_t node = profile.devices[0].sites[0].node; node != 0; node = profile.nodes[node].parent)
    names.push_back(profile.frames[profile.nodes[node].frame].function);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("names that come later give the profile that had them: inlined frames, sites that read alike") {
  check_named_later(test::small_sample());
}

TEST_CASE(
    "names that come later give the profile that had them: refusals, calls, estimates and owners have stacks too") {
  test::Sample sample = test::small_sample();
  RecordedDevice& gpu = sample.recording.devices[1];
  Refusal refusal;
  refusal.node = 3;
  refusal.count = 2;
  refusal.size_bytes = 99;
  refusal.live_sites = {{6, 1 << 20, 1}};
  gpu.refusals = {refusal};
  gpu.unseen.estimates = {{"modules", 5, 1, 4096, 0}};
  RecordedDevice& host = sample.recording.devices[0];
  sample.recording.run.leak_check = {true, true, "", 4096, 0, 1, 77};
  for (RecordedSite& site : host.sites) {
    SiteNumbers& n = site.numbers;
    n.lost_bytes = n.leaked_bytes;
    n.lost_blocks = n.leaked_blocks;
    if (n.lost_blocks != 0) host.lost_owners.push_back({false, 1, n.lost_bytes, n.lost_blocks, {{site.stack, 0, 1}}});
  }
  sample.recording.api.calls = {{"copy to host", 6, 3, 1000, 64}, {"copy to host", 3, 3, 900, 64}};
  check_named_later(sample);
}

TEST_CASE("names that come later give the profile that had them: random stacks") {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    DYNAMIC_SECTION("seed " << seed) { check_named_later(test::random_sample({seed, 60, 12, 150})); }
  }
}

TEST_CASE("a frame into which others were inlined is not expanded again, whatever it lacks") {
  test::Sample sample = two_frames();
  sample.symbols.frames = {{}, {{"inner", "/src/a.h", 3, true}, {"outer", "", 0, false}}};
  Profile profile = read_back(assemble(sample.recording, sample.symbols));
  const std::string before = written(profile);
  CHECK(find_nameless_frames(profile).locations.size() == 1);
  name(
      sample, [](size_t i) { return i == 1; }, &profile);
  CHECK(written(profile) == before);
}

TEST_CASE("a function without a line is not lost to a table that knows less") {
  test::Sample sample = two_frames();
  sample.symbols.frames = {{{"main", "", 0, false}}, {{"allocate", "", 0, false}}};
  Profile profile = read_back(assemble(sample.recording, sample.symbols));
  const std::string before = written(profile);
  sample.symbols.frames = {{}, {{"", "/src/a.cc", 3, false}}};
  name(sample, kAll, &profile);
  CHECK(written(profile) == before);
  sample.symbols.frames = {{}, {{"inner", "/src/a.h", 3, true}, {"", "/src/a.cc", 4, false}}};
  const std::vector<NamedFrames> named = name(sample, kAll, &profile);
  CHECK(functions(profile) == Names{"inner", "allocate", "main"});
  CHECK(named[0].lines_missing == 2);
  CHECK(named[0].lines_found == 1);
}

TEST_CASE("what was unread and has names now is no reason for a warning") {
  test::Sample sample = two_frames();
  sample.recording.run.coverage.unread_modules = {"/opt/app/render", "/usr/lib/other.so"};
  Profile profile = read_back(assemble(sample.recording, sample.symbols));
  sample.symbols.frames = {{{"main", "", 0, false}}, {}};
  name(sample, kAll, &profile);
  CHECK(profile.run.coverage.unread_modules == Names{"/usr/lib/other.so"});
}

TEST_CASE("a symbol table of another length names nothing") {
  const test::Sample sample = test::small_sample();
  Profile profile = assemble(sample.recording, some(sample, kNone));
  const std::string before = written(profile);
  add_names(find_nameless_frames(profile), SymbolTable(), &profile);
  CHECK(written(profile) == before);
}
