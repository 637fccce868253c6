// tests/unit/model/exception_reserve_test.cc: libstdc++'s reserve is found with and without names, and nothing of the
// program's own is taken for it.
#include "cli/model/analysis/exception_reserve.h"

#include "cli/model/analysis/places.h"
#include "cli/model/analysis/warnings.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

struct Step {
  std::string function;
  std::string module;
};

const std::string kStd = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30";
const std::string kLoader = "/lib64/ld-linux-x86-64.so.2";
const std::string kProgram = "/home/me/app";
const std::vector<Step> kUnnamed = {{"", kStd}, {"", kLoader}, {"", kLoader}};

// Sites of one block each, innermost frames first.
Profile profile_of(const std::vector<std::pair<std::vector<Step>, uint64_t>>& sites) {
  Profile profile;
  profile.run.executable = kProgram;
  profile.run.end = {EndKind::kExited, 0};
  profile.nodes.emplace_back();
  profile.devices.emplace_back();
  profile.devices[0].name = "host";
  for (const auto& [steps, size_bytes] : sites) {
    uint32_t node = 0;
    for (size_t i = steps.size(); i-- > 0;) {
      Frame frame;
      frame.function = steps[i].function;
      frame.svma = 0x1000 + profile.frames.size();
      frame.module = static_cast<uint32_t>(profile.modules.size());
      profile.modules.push_back({steps[i].module, ""});
      profile.frames.push_back(frame);
      profile.nodes.push_back({node, static_cast<uint32_t>(profile.frames.size() - 1)});
      node = static_cast<uint32_t>(profile.nodes.size() - 1);
    }
    Site site;
    site.node = node;
    site.numbers.total_bytes = site.numbers.peak_bytes = site.numbers.leaked_bytes = size_bytes;
    site.numbers.total_blocks = site.numbers.peak_blocks = site.numbers.leaked_blocks = 1;
    profile.devices[0].sites.push_back(site);
    profile.devices[0].totals.peak_bytes += size_bytes;
    profile.devices[0].totals.total_bytes += size_bytes;
    ++profile.devices[0].totals.total_blocks;
  }
  return profile;
}

bool is_reserve(const std::vector<Step>& steps, uint64_t size_bytes) {
  const Profile profile = profile_of({{steps, size_bytes}});
  return find_reserve_frame(profile, profile.devices[0].sites[0]) != kNoModule;
}

}  // namespace

TEST_CASE("libstdc++'s reserve is known by its caller, the loader and its size; or by name") {
  CHECK(is_reserve(kUnnamed, 72'704));
  CHECK(is_reserve(kUnnamed, 73'728));
  CHECK(is_reserve({{"malloc", ""}, {"", kStd}, {"call_init", kLoader}}, 72'704));
  CHECK(is_reserve({{"", kStd}, {"_dl_init", "/lib/x86_64-linux-gnu/ld-2.31.so"}}, 72'704));
  // Of a library that a plugin or an interpreter loads.
  CHECK(is_reserve({{"", kStd}, {"", kLoader}, {"dlopen", ""}, {"load_plugin", kProgram}, {"main", kProgram}}, 72'704));
  // With names, and linked statically: whatever the size was set to.
  CHECK(is_reserve({{"(anonymous namespace)::pool::pool()", kStd},
                    {"__static_initialization_and_destruction_0", kStd},
                    {"_GLOBAL__sub_I_eh_alloc.cc", kStd},
                    {"call_init", kLoader}},
                   200'000));
  CHECK(is_reserve({{"_GLOBAL__sub_I_eh_alloc.cc", kProgram}, {"__libc_csu_init", kProgram}}, 72'704));
}

TEST_CASE("a block of the program's own is never the reserve") {
  CHECK_FALSE(is_reserve(kUnnamed, 60'000));
  CHECK_FALSE(is_reserve(kUnnamed, 80'000));
  CHECK_FALSE(is_reserve({{"", kStd}, {"main", kProgram}}, 72'704));
  CHECK_FALSE(is_reserve({{"", kStd}, {"", kStd}, {"", kLoader}}, 72'704));
  CHECK_FALSE(is_reserve({{"", "/usr/lib/libmine.so"}, {"", kLoader}}, 72'704));
  CHECK_FALSE(is_reserve({{"std::string::reserve", kStd}, {"call_init", kLoader}}, 72'704));
  CHECK_FALSE(is_reserve({{"take_block", kProgram}, {"", kStd}, {"", kLoader}}, 72'704));
  CHECK_FALSE(is_reserve({{"", kStd}}, 72'704));
  CHECK_FALSE(is_reserve({}, 72'704));
  const Profile profile = profile_of({{kUnnamed, 72'704}});
  Site two = profile.devices[0].sites[0];
  two.numbers.total_blocks = 2;  // of 36,352 bytes
  CHECK(find_reserve_frame(profile, two) == kNoModule);
}

TEST_CASE("the reserve is a place of its own, in all sums, and not among the own ones") {
  const std::vector<Step> plugin = {
      {"", kStd}, {"", kLoader}, {"dlopen", ""}, {"load_plugin", kProgram}, {"main", kProgram}};
  const Profile profile = profile_of({{plugin, 72'704}, {{{"load_plugin", kProgram}, {"main", kProgram}}, 1235}});
  const std::vector<Place> places = find_places(profile, build_place_tree(profile), profile.devices[0]);
  REQUIRE(places.size() == 2);
  CHECK(places[0].is_reserve);
  CHECK_FALSE(places[1].is_reserve);
  CHECK(places[0].numbers.peak_bytes + places[1].numbers.peak_bytes == sum_of_sites(profile.devices[0]).peak_bytes);
  CHECK(rank_places(places, Metric::kPeak) == std::vector<uint32_t>{0, 1});
  CHECK(rank_own_places(places, Metric::kPeak) == std::vector<uint32_t>{1});
  CHECK(reserve_of(places, Metric::kPeak) == 72'704);
  CHECK(reserve_of(places, Metric::kLeaked) == 72'704);
}

TEST_CASE("nobody is told to find names for the reserve") {
  const auto ids = [](const Profile& profile) {
    std::string text;
    for (const Problem& warning : find_warnings(profile)) text += warning.id;
    return text;
  };
  CHECK(ids(profile_of({{kUnnamed, 72'704}})).empty());
  CHECK(ids(profile_of({{{{"", "/usr/lib/libmine.so"}, {"", kLoader}}, 72'704}})) == "HP068");
}
