// tests/unit/model/assemble_grouped_test.cc: grouping first gives what grouping last gives, to the byte.
//
// The oracle is the long way: all sites in canonical form, the smallest summed, and all of it once more.
#include "cli/model/analysis/assemble_grouped.h"

#include "cli/base/sanitizers.h"
#include "cli/model/analysis/alike_stacks.h"
#include "cli/model/profile/alike_frames.h"
#include "cli/model/profile/assemble_steps.h"
#include "cli/model/profile/invariants.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string bytes_of(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

constexpr uint32_t kSeeds = kHasThreadSanitizer ? 1 : kHasAddressSanitizer ? 3 : 12;

// The nodes of random_sample may repeat; those of a recording never do.
void make_nodes_distinct(Recording* recording) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
  std::vector<uint32_t> number(recording->stacks.size());
  std::vector<StackNode> nodes(1);
  for (size_t i = 1; i < recording->stacks.size(); ++i) {
    const StackNode node{number[recording->stacks[i].parent], recording->stacks[i].location};
    const auto [entry, is_new] = known.try_emplace({node.parent, node.location}, static_cast<uint32_t>(nodes.size()));
    if (is_new) nodes.push_back(node);
    number[i] = entry->second;
  }
  recording->stacks = nodes;
  for (RecordedDevice& device : recording->devices) {
    for (RecordedSite& site : device.sites) site.stack = number[site.stack];
  }
}

// A stack that several sites of the sample have got: its whole one and its truncated one stay, as in a recording.
void make_twins(RecordedDevice* device) {
  std::map<uint32_t, std::vector<RecordedSite*>> by_stack;
  for (RecordedSite& site : device->sites) by_stack[site.stack].push_back(&site);
  for (auto& [stack, sites] : by_stack) {
    if (sites.size() > 1) sites[1]->truncated = true;
  }
}

test::Sample recorded_sample(const test::RandomShape& shape) {
  test::Sample sample = test::random_sample(shape);
  make_nodes_distinct(&sample.recording);
  make_twins(&sample.recording.devices[0]);
  return sample;
}

// All sites as one site is: nothing but the order of stacks tells them apart.
void make_equal(RecordedDevice* device) {
  const uint64_t sites = device->sites.size();
  SiteNumbers one;
  one.total_bytes = one.max_bytes = one.peak_bytes = one.leaked_bytes = 32;
  one.total_blocks = one.max_blocks = one.peak_blocks = one.leaked_blocks = 1;
  one.smallest_bytes = one.largest_bytes = 32;
  for (RecordedSite& site : device->sites) {
    site.numbers = one;
    site.sizes_row = 0;
  }
  DeviceTotals& totals = device->totals;
  totals = {};
  totals.total_bytes = totals.peak_bytes = totals.leaked_bytes = 32 * sites;
  totals.total_blocks = totals.peak_blocks = totals.max_blocks = totals.leaked_blocks = sites;
  device->timeline.buckets = {{0, 32 * sites}};
}

// Returns how many sites the profile has.
size_t compare(const test::Sample& sample, const GroupOptions& options) {
  Profile expected = assemble(sample.recording, sample.symbols);
  group_small_sites(&expected, options);
  Recording recording = sample.recording;
  const Profile actual = assemble_grouped(&recording, sample.symbols, options);
  const std::vector<std::string> violations = find_violations(actual);
  INFO((violations.empty() ? "" : violations[0]));
  CHECK(violations.size() == find_violations(expected).size());
  CHECK(bytes_of(actual) == bytes_of(expected));
  GroupOptions with_thread = options;
  with_thread.has_second_thread = true;
  recording = sample.recording;
  CHECK(bytes_of(assemble_grouped(&recording, sample.symbols, with_thread)) == bytes_of(expected));
  return actual.devices[0].sites.size();
}

}  // namespace

TEST_CASE("grouping first gives the profile of grouping last") {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    const test::Sample sample = recorded_sample({seed, 12'000, 6 + seed, 100 + 60 * seed});
    compare(sample, {500, 300});
    compare(sample, {3000, 40});
    compare(sample, {0, 5});
    compare(sample, {11'000, 10'000});
  }
}

TEST_CASE("of sites of equal numbers at the border the first by stack stay alone") {
  for (uint32_t seed = 20; seed <= 20 + kSeeds / 3; ++seed) {
    INFO("seed " << seed);
    test::Sample sample = recorded_sample({seed, 20'000, 9, 400});
    make_equal(&sample.recording.devices[0]);
    for (const size_t kept : {0u, 1u, 2u, 777u, 5000u}) {
      INFO("kept " << kept);
      compare(sample, {kept, 100});
    }
  }
}

TEST_CASE("a few groups of equals, so that the border lies inside of one") {
  test::Sample sample = recorded_sample({31, 20'000, 12, 300});
  RecordedDevice& device = sample.recording.devices[0];
  make_equal(&device);
  for (size_t i = 0; i < device.sites.size(); ++i) {
    if (i % 3 != 0) continue;
    device.sites[i].numbers.peak_bytes = device.sites[i].numbers.peak_blocks = 0;  // freed by then, and not leaked
    device.sites[i].numbers.leaked_bytes = device.sites[i].numbers.leaked_blocks = 0;
  }
  for (size_t kept = 900; kept < 19'000; kept += 1777) {
    INFO("kept " << kept);
    compare(sample, {kept, 200});
  }
}

TEST_CASE("a stack's whole and truncated sites are ranked as one") {
  test::Sample sample = recorded_sample({41, 9000, 8, 60});  // so few locations that many stacks come twice
  size_t twins = 0;
  for (const RecordedSite& site : sample.recording.devices[0].sites) twins += site.truncated ? 1 : 0;
  REQUIRE(twins > 20);
  for (const size_t kept : {10u, 400u, 4000u}) compare(sample, {kept, 150});
  make_equal(&sample.recording.devices[0]);
  for (const size_t kept : {10u, 400u, 4000u}) compare(sample, {kept, 150});
}

TEST_CASE("locations of different modules that read alike are one, whichever way is taken") {
  test::Sample sample = recorded_sample({51, 9000, 8, 200});
  Recording& r = sample.recording;
  r.modules.push_back(r.modules[0]);  // the program again
  for (size_t i = 100; i < 150; ++i) {
    r.locations[i] = {2, r.locations[i - 100].svma};
    sample.symbols.frames[i] = sample.symbols.frames[i - 100];
  }
  compare(sample, {300, 100});
  // Only the outer one of two frames: half of a location.
  sample = recorded_sample({52, 9000, 8, 200});
  sample.symbols.frames[7] = {{"inner", "/src/a.h", 1, true}, {"outer", "/src/a.cc", 2, false}};
  sample.symbols.frames[9] = {{"other", "/src/b.h", 1, true}, {"outer", "/src/a.cc", 2, false}};
  sample.recording.locations[9].svma = sample.recording.locations[7].svma;
  sample.recording.locations[7].module = sample.recording.locations[9].module = 0;
  compare(sample, {300, 100});
}

TEST_CASE("many locations of the same text, with frames that are left out between them") {
  for (const size_t frames : {1u, 2u}) {
    INFO("frames " << frames);
    test::Sample sample = recorded_sample({55, 9000, 12, 240});
    Recording& r = sample.recording;
    r.modules.push_back({"/usr/lib/heapprof/libheapprof.so", "a9e7", 0, nullptr});
    for (size_t i = 0; i < r.locations.size(); ++i) {
      if (i % 3 == 0) {  // as exec() compiles one text again and again
        r.locations[i] = {0, 0x700 + i % 5};
        sample.symbols.frames[i] = {{"generated", "/src/g.py", static_cast<uint32_t>(i % 5), frames == 2}};
        if (frames == 2)
          sample.symbols.frames[i].push_back({"caller", "/src/g.py", static_cast<uint32_t>(i % 5), false});
      } else if (i % 16 == 1) {
        r.locations[i].module = 2;
      } else if (i % 16 == 2) {
        r.locations[i] = {kNoModule, 0};
        sample.symbols.frames[i] = {{"[no stack]", "", 0, false}};
      }
    }
    Profile profile;
    NamedLocations names;
    names.start = add_frames(r, sample.symbols, &profile);
    names.stands_for = merge_alike_frames(&profile);
    names.profile = &profile;
    Recording merged = r;
    REQUIRE(merge_alike_stacks(names, &merged));
    std::set<uint32_t> before;
    std::set<uint32_t> after;
    for (const RecordedSite& site : r.devices[0].sites) before.insert(site.stack);
    for (const RecordedSite& site : merged.devices[0].sites) after.insert(site.stack);
    CHECK(after.size() < before.size());
    for (const size_t kept : {0u, 300u, 3000u}) compare(sample, {kept, 100});
  }
}

TEST_CASE("a function that is inlined into itself on one line reads alike within its location only") {
  test::Sample sample = recorded_sample({61, 9000, 8, 120});
  for (size_t i = 0; i < 60; ++i) {
    const std::string name = "recurse_" + std::to_string(i);
    sample.symbols.frames[i] = {
        {name, "/src/r.cc", 5, true}, {name, "/src/r.cc", 5, true}, {name, "/src/r.cc", 5, false}};
  }
  for (const size_t kept : {0u, 300u, 3000u}) compare(sample, {kept, 80});
}

TEST_CASE("the agent's frames and frames without a stack are left out, whichever way is taken") {
  test::Sample sample = recorded_sample({71, 9000, 8, 200});
  sample.recording.modules.push_back({"/usr/lib/heapprof/libheapprof.so", "a9e7", 0, nullptr});
  for (size_t i = 0; i < 20; ++i) sample.recording.locations[i].module = 2;
  compare(sample, {300, 100});
  sample = recorded_sample({72, 9000, 8, 200});
  sample.recording.locations[5] = {kNoModule, 0};
  sample.symbols.frames[5] = {{"[no stack]", "", 0, false}};
  compare(sample, {300, 100});
}

TEST_CASE("rows of a Python program are those of grouping last, whatever stands around whatever") {
  const std::string packages = "/usr/lib/python3/dist-packages/";
  const std::vector<SourceFrame> lines = {{"main", "/home/me/app.py", 3, false},
                                          {"<module>", packages + "pip/__init__.py", 7, false},
                                          {"run", packages + "pip/run.py", 9, false},
                                          {"<module>", packages + "attr/_make.py", 11, false},
                                          {"loads", "/usr/lib/python3.11/json/__init__.py", 13, false},
                                          {"reload", "/usr/lib/python3.11/importlib/__init__.py", 15, false},
                                          {"_find_and_load", "<frozen importlib._bootstrap>", 1178, false},
                                          {"exec_module", "<frozen importlib._bootstrap_external>", 940, false},
                                          {"made", "", 1, false}};
  const std::vector<std::pair<std::string, std::string>> natives = {
      {"/usr/bin/python3.11", "PyDict_New"},
      {"/usr/bin/python3.11", "_PyEval_EvalFrameDefault"},
      {"/usr/bin/python3.11", "Py_InitializeFromConfig"},
      {"/usr/bin/python3.11", "Py_FinalizeEx"},
      {packages + "torch/_C.so", "register_all"},
      {packages + "pip/_speed.so", "parse"},
      {"/usr/lib/python3.11/lib-dynload/_json.so", "scan"},
      {"/usr/lib/x86_64-linux-gnu/libssl.so.3", "SSL_new"},
      {"/home/me/own.so", "work"},
      {"/usr/lib/x86_64-linux-gnu/libc.so.6", "malloc"}};
  for (const bool is_embedded : {false, true}) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      INFO("embedded " << is_embedded << " seed " << seed);
      test::Sample sample = recorded_sample({200 + seed, 5000, 14, 90});
      Recording& r = sample.recording;
      if (is_embedded) r.run.executable = r.modules[0].path;
      r.modules.push_back({"[Python]", "", 0, nullptr});
      const auto python = static_cast<uint32_t>(r.modules.size() - 1);
      for (const auto& [object, function] : natives) r.modules.push_back({object, "", 0, nullptr});
      for (uint32_t i = 0; i < r.locations.size(); ++i) {
        const uint32_t kind = (i * 2654435761u + seed) >> 7;
        if (is_embedded && kind % 11 == 0) continue;  // the program's own
        if (kind % 5 < 3) {
          SourceFrame line = lines[(seed % 3 == 0 ? 1 : 0) + kind / 5 % (lines.size() - (seed % 3 == 0 ? 1 : 0))];
          if (line.line < 20 && !line.file.empty()) line.line += 20 * (i % 3);
          r.locations[i] = {python, 0};
          sample.symbols.frames[i] = {line};
        } else {
          const uint32_t native = kind / 5 % static_cast<uint32_t>(natives.size());
          r.locations[i] = {python + 1 + native, 0x1000 + i};
          sample.symbols.frames[i] = {{natives[native].second, "", 0, false}};
          if (i % 4 == 0) sample.symbols.frames[i].insert(sample.symbols.frames[i].begin(), {"inner", "/x.h", 1, true});
        }
      }
      for (const size_t rows : {2u, 300u, 5000u}) compare(sample, {40, rows});
    }
  }
}

TEST_CASE("grouping first keeps live bytes, other devices and stacks besides those of sites") {
  test::Sample sample = recorded_sample({81, 12'000, 10, 500});
  Recording& r = sample.recording;
  RecordedDevice gpu = r.devices[0];
  gpu.name = "cuda:0";
  RecordedDevice small = r.devices[0];
  small.name = "cuda:1";
  small.sites.resize(40);
  RecordedDevice& host = r.devices[0];
  host.moments_ns = {1000, 2000, 3000};
  for (size_t i = 0; i < host.sites.size(); i += 7) {
    const uint64_t most = host.sites[i].numbers.max_bytes;
    host.live_bytes.insert(host.live_bytes.end(), {most, most / 2, 0});
    host.sites[i].live_row = static_cast<uint32_t>(host.live_bytes.size() / 3);
  }
  for (uint32_t i = 0; i < 30; ++i) {
    Refusal refusal;
    refusal.node = (i * 379) % static_cast<uint32_t>(r.stacks.size());
    refusal.count = i + 1;
    refusal.last_ns = 100 * (i / 3);
    refusal.live_sites = {{(i * 977) % static_cast<uint32_t>(r.stacks.size()), 100, 1}, {0, 5, 1}};
    host.refusals.push_back(refusal);
    host.lost_owners.push_back({i % 2 == 0, 1, i, i, {{(i * 211) % static_cast<uint32_t>(r.stacks.size()), i, 1}}});
    r.api.calls.push_back({"cudaMalloc", (i * 541) % static_cast<uint32_t>(r.stacks.size()), i, 5, 7});
  }
  r.devices.push_back(std::move(gpu));
  r.devices.push_back(std::move(small));
  compare(sample, {600, 200});
}

TEST_CASE("a damaged recording takes the long way") {
  for (int damage = 0; damage < 4; ++damage) {
    test::Sample sample = recorded_sample({91, 5000, 8, 200});
    Recording& r = sample.recording;
    if (damage == 0) r.stacks[30].parent = 4'000'000'000;
    if (damage == 1) r.stacks[31].location = 99'999;
    if (damage == 2) r.devices[0].sites[7].stack = 4'000'000'000;
    if (damage == 3) r.locations[3].module = 88, sample.symbols.frames.resize(20);
    INFO("damage " << damage);
    compare(sample, {300, 100});
  }
}

TEST_CASE("a site that counted nothing is gone, and is not counted among those that stay") {
  test::Sample sample = recorded_sample({95, 6000, 8, 300});
  for (size_t i = 0; i < 6000; i += 2) sample.recording.devices[0].sites[i].numbers = {};
  CHECK(compare(sample, {200, 100}) < 3000);
  compare(sample, {2999, 100});
}
