// tests/unit/model/diff_test.cc: what changed between two profiles, and that a rebuild alone changes nothing.
#include "cli/model/compare/diff.h"

#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

using Step = ScenePlan::Step;

struct Stack {
  std::vector<Step> innermost_first;
  uint64_t blocks = 0;
  uint64_t peak_bytes = 0;
  uint64_t leaked_bytes = 0;
};

const Step kStart{"__libc_start_call_main", "", 0};
const Step kMain{"main", "/src/main.cc", 31};
const Step kLoad{"load(Scene const&)", "/src/scene.cc", 90};
const Step kIndex{"build_index(Scene const&)", "/src/index.cc", 212};

Step user(const std::string& name) { return {name, "/src/" + name + ".cc", 10}; }

Profile profile_of(const std::vector<Stack>& stacks) {
  ScenePlan plan;
  plan.add_device("host");
  for (const Stack& stack : stacks) {
    SizedNumbers n;
    n.total_blocks = n.peak_blocks = stack.blocks;
    n.total_bytes = n.peak_bytes = stack.peak_bytes;
    n.leaked_bytes = stack.leaked_bytes;
    n.leaked_blocks = stack.leaked_bytes > 0 ? stack.blocks : 0;
    plan.add_site(stack.innermost_first, n);
  }
  Profile profile = plan.take();
  canonicalize(&profile);
  return profile;
}

// "build_index 100→200 2 stacks", one a line, in the order of the peak's change; all places.
std::string changes(const Profile& base, const Profile& current, Metric metric = Metric::kPeak) {
  const ProfileDiff diff = diff_profiles(base, current);
  REQUIRE(!diff.devices.empty());
  const DeviceChange& device = diff.devices[0];
  std::string text;
  for (const uint32_t i : rank_all_changes(device, metric)) {
    const PlaceChange& place = device.places[i];
    const bool in_current = place.frame[kCurrent] != kNoFrame;
    const std::string name = in_current                       ? current.frames[place.frame[kCurrent]].function
                             : place.frame[kBase] != kNoFrame ? base.frames[place.frame[kBase]].function
                                                              : "[no stack]";
    const Change change = place.change(metric);
    text += name.substr(0, name.find('(')) + " " + std::to_string(change.base) + "→" + std::to_string(change.current) +
            " " + std::to_string(place.stacks.size()) + "\n";
  }
  return text;
}

void check_sums(const Profile& base, const Profile& current) {
  const ProfileDiff diff = diff_profiles(base, current);
  for (const DeviceChange& device : diff.devices) {
    BySide<PlaceNumbers> sums;
    BySide<PlaceNumbers> sums_of_stacks;
    for (const PlaceChange& place : device.places) {
      for (const Side side : kSides) {
        sums[side].add(place.numbers[side]);
        for (const MatchedStack& stack : place.stacks) sums_of_stacks[side].add(stack.numbers[side]);
      }
    }
    for (const Side side : kSides) {
      for (const Metric metric : kMetrics) {
        CHECK(sums[side].metric(metric) == device.numbers[side].metric(metric));
        CHECK(sums_of_stacks[side].metric(metric) == device.numbers[side].metric(metric));
      }
    }
  }
}

}  // namespace

TEST_CASE("a profile compared with itself has no change") {
  for (const Profile& profile :
       {scene_profile(), assembled(small_sample()), assembled(hostile_sample()), assembled(random_sample({}))}) {
    for (const Metric metric : kMetrics) CHECK(changes(profile, profile, metric) == "");
    check_sums(profile, profile);
    const ProfileDiff diff = diff_profiles(profile, profile);
    for (const DeviceChange& device : diff.devices) {
      for (const PlaceChange& place : device.places) {
        for (const MatchedStack& stack : place.stacks) CHECK((stack.is_in[kBase] && stack.is_in[kCurrent]));
      }
    }
  }
}

TEST_CASE("the sums over places and stacks are the devices', whatever is matched") {
  RandomShape shape;
  shape.locations = 60;  // so that stacks of the two are subsequences of each other by chance
  shape.depth = 6;
  shape.sites = 400;
  std::vector<Profile> profiles = {scene_profile(), assembled(small_sample())};
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    shape.seed = seed;
    profiles.push_back(assembled(random_sample(shape)));
  }
  for (const Profile& base : profiles) {
    for (const Profile& current : profiles) check_sums(base, current);
  }
}

TEST_CASE("a place that grew, one that is new and one that is gone") {
  const Profile base = profile_of({{{kIndex, kLoad, kMain, kStart}, 10, 1'000'000},
                                   {{user("old_table"), kMain, kStart}, 1, 64'000},
                                   {{user("same"), kMain, kStart}, 5, 5'000}});
  const Profile current = profile_of({{{kIndex, kLoad, kMain, kStart}, 10, 1'200'000},
                                      {{user("leak_cache"), kMain, kStart}, 40, 3'000'000},
                                      {{user("same"), kMain, kStart}, 5, 5'000}});
  CHECK(changes(base, current) ==
        "leak_cache 0→3000000 1\n"
        "build_index 1000000→1200000 1\n"
        "old_table 64000→0 1\n");
  CHECK(changes(current, base) ==
        "leak_cache 3000000→0 1\n"
        "build_index 1200000→1000000 1\n"
        "old_table 0→64000 1\n");
  check_sums(base, current);
}

TEST_CASE("lines, folders, addresses, versions of libraries and the program's own name do not matter") {
  const auto build = [](const std::string& folder, uint32_t line, const std::string& program, uint64_t moved) {
    ScenePlan plan;
    plan.add_device("host");
    SizedNumbers n;
    n.total_bytes = n.peak_bytes = 1235, n.total_blocks = n.peak_blocks = 1;
    plan.add_site({{"work(int)", folder + "/work.cc", line}, {"main", folder + "/main.cc", line + 7}, kStart}, n);
    plan.add_site({{"read_all", "", 0}, {"main", folder + "/main.cc", line + 9}, kStart}, n);
    Profile profile = plan.take();
    for (Frame& frame : profile.frames) frame.svma += moved;
    profile.modules[0] = {folder + "/" + program, program};
    profile.modules[2] = {"/usr/lib/libread.so." + std::to_string(line), program};
    profile.run.executable = folder + "/" + program;
    canonicalize(&profile);
    return profile;
  };
  CHECK(changes(build("/a/build", 10, "app", 0), build("/b/out", 400, "app-v2", 0x5000)) == "");
  Profile sum = build("/a/build", 10, "app", 0);  // of several programs
  sum.run.executable.clear();
  CHECK(changes(sum, build("/a/build", 10, "app", 0)) == "");
  CHECK(changes(build("/a/build", 10, "app", 0), sum) == "");
}

TEST_CASE("a compiler's clones are the function that they are made of") {
  for (const std::string suffix : {".isra.0", ".part.0", ".constprop.1", ".lto_priv.0", ".cold", " [clone .isra.0]"}) {
    CAPTURE(suffix);
    const Profile base = profile_of({{{user("work"), kMain, kStart}, 3, 1235}});
    const Profile clone = profile_of({{{user("work" + suffix), kMain, kStart}, 3, 1235}});
    CHECK(changes(base, clone) == "");
    // Part of a function, called from what is left of it.
    const Profile part = profile_of({{{user("work" + suffix), user("work"), kMain, kStart}, 3, 1235}});
    CHECK(changes(base, part) == "");
    CHECK(diff_profiles(base, part).devices[0].places[0].stacks.size() == 1);
  }
}

TEST_CASE("a lambda that only moved is neither new nor gone") {
  const auto lambda = [](const std::string& name) { return Step{name, "/src/server.cc", 12}; };
  const Profile base = profile_of({{{lambda("start()::{lambda(int)#1}::operator()(int) const"), kMain}, 5, 500},
                                   {{lambda("start()::{lambda(int)#2}::operator()(int) const"), kMain}, 3, 3000}});
  const Profile grown = profile_of({{{lambda("start()::{lambda(int)#1}::operator()(int) const"), kMain}, 5, 600},
                                    {{lambda("start()::{lambda(int)#2}::operator()(int) const"), kMain}, 3, 3000}});
  CHECK(changes(base, grown) == "start 500→600 1\n");  // told apart where both profiles have the same ones
  const Profile moved = profile_of({{{lambda("start()::{lambda(int)#1}::operator()(int) const"), kMain}, 1, 10},
                                    {{lambda("start()::{lambda(int)#2}::operator()(int) const"), kMain}, 5, 500},
                                    {{lambda("start()::{lambda(int)#3}::operator()(int) const"), kMain}, 3, 3000}});
  CHECK(changes(base, moved) == "start 3500→3510 1\n");
  for (const std::string name : {"start()::$_#::operator()() const", "app::load::{closure##}", "App.lambda$load$#"}) {
    const auto numbered = [&name](const char* number) {
      std::string text = name;
      return text.replace(text.rfind('#'), 1, number);
    };
    INFO(name);
    CHECK(changes(profile_of({{{lambda(numbered("0")), kMain}, 5, 500}}),
                  profile_of({{{lambda(numbered("1")), kMain}, 5, 500}})) == "");
  }
}

TEST_CASE("one place by several callers: the changes of its stacks are told apart") {
  const Step grow = user("grow");
  const Profile base =
      profile_of({{{grow, user("a"), kMain, kStart}, 10, 100'000}, {{grow, user("b"), kMain, kStart}, 10, 100'000}});
  const Profile current =
      profile_of({{{grow, user("a"), kMain, kStart}, 10, 100'000}, {{grow, user("b"), kMain, kStart}, 30, 300'000}});
  const ProfileDiff diff = diff_profiles(base, current);
  REQUIRE(diff.devices[0].places.size() == 1);
  const PlaceChange& place = diff.devices[0].places[0];
  REQUIRE(place.stacks.size() == 2);
  const std::vector<uint32_t> order = rank_stacks(place, Metric::kPeak);
  REQUIRE(order.size() == 1);
  CHECK(place.stacks[order[0]].numbers[kCurrent].peak_bytes == 300'000);
}

TEST_CASE("a caller that was inlined, or renamed, leaves its stack matched") {
  const Profile base = profile_of({{{kIndex, kLoad, kMain, kStart}, 10, 100'000}});
  const auto stacks = [&](const Profile& current) {
    const ProfileDiff diff = diff_profiles(base, current);
    CHECK(changes(base, current) == "");
    CHECK(changes(current, base) == "");
    return diff.devices[0].places[0].stacks.size();
  };
  CHECK(stacks(profile_of({{{kIndex, kMain, kStart}, 10, 100'000}})) == 1);
  CHECK(stacks(profile_of({{{kIndex, user("load_v2"), kMain, kStart}, 10, 100'000}})) == 1);
  // Inlined here, and called elsewhere: the function is known, so the path decides.
  const Profile here = profile_of({{{kIndex, kMain, kStart}, 10, 100'000}, {{kLoad, kMain, kStart}, 1, 17}});
  const ProfileDiff diff = diff_profiles(base, here);
  CHECK(changes(base, here) == "load 0→17 1\n");
  CHECK(diff.devices[0].places.size() == 2);
  for (const PlaceChange& place : diff.devices[0].places) CHECK(place.stacks.size() == 1);
  // Two callers of one side, both inlined in the other.
  const Profile two = profile_of({{{kIndex, user("f"), kMain, kStart}, 6, 60'000},
                                  {{kIndex, user("g"), kMain, kStart}, 4, 40'000},
                                  {{user("f"), kMain, kStart}, 1, 11}});
  const Profile one = profile_of({{{kIndex, kMain, kStart}, 10, 100'000}, {{user("f"), kMain, kStart}, 1, 11}});
  CHECK(changes(two, one) == "");
  CHECK(changes(one, two) == "");
  const ProfileDiff both = diff_profiles(two, one);
  for (const PlaceChange& place : both.devices[0].places) CHECK(place.stacks.size() == 1);
}

TEST_CASE("the innermost function was inlined without debug information") {
  const Step helper = user("helper");
  const Step work = user("work");
  // helper is nowhere in the other build.
  const Profile base = profile_of({{{helper, work, kMain, kStart}, 1000, 100'000}, {{user("x"), kMain, kStart}, 1, 9}});
  CHECK(changes(base, profile_of({{{work, kMain, kStart}, 1000, 100'000}, {{user("x"), kMain, kStart}, 1, 9}})) == "");
  // work allocates itself as well: it has just so many more.
  const Profile both = profile_of({{{helper, work, kMain, kStart}, 1000, 100'000}, {{work, kMain, kStart}, 50, 5'000}});
  const Profile inlined = profile_of({{{work, kMain, kStart}, 1050, 105'000}});
  CHECK(changes(both, inlined) == "");
  CHECK(changes(inlined, both) == "");
  // helper is known there, as another function calls it too.
  const Step other = user("other");
  CHECK(changes(profile_of({{{helper, work, kMain, kStart}, 1000, 100'000},
                            {{helper, other, kMain, kStart}, 7, 700},
                            {{work, kMain, kStart}, 50, 5'000}}),
                profile_of({{{work, kMain, kStart}, 1050, 105'000}, {{helper, other, kMain, kStart}, 7, 700}})) == "");
}

TEST_CASE("a function that is gone is not taken for one that is new, nor for its caller") {
  const Step work = user("work");
  const Profile base =
      profile_of({{{user("old"), work, kMain, kStart}, 1000, 100'000}, {{work, kMain, kStart}, 50, 5'000}});
  CHECK(changes(base, profile_of({{{work, kMain, kStart}, 50, 5'000}})) == "old 100000→0 1\n");
  CHECK(changes(base, profile_of({{{user("new"), work, kMain, kStart}, 1000, 100'000},
                                  {{work, kMain, kStart}, 50, 5'000}})) == "new 0→100000 1\nold 100000→0 1\n");
  // The caller allocates for the first time, but something else.
  CHECK(changes(profile_of({{{user("old"), work, kMain, kStart}, 1000, 100'000}}),
                profile_of({{{work, kMain, kStart}, 3, 900'000}})) == "work 0→900000 1\nold 100000→0 1\n");
}

TEST_CASE("functions of one name in different modules are different places") {
  const auto build = [](const char* module) {
    Profile profile = profile_of({{{kIndex, kMain, kStart}, 1, 1235}});
    profile.modules[0].path = std::string("/usr/lib/") + module;
    return profile;
  };
  CHECK(changes(build("liba.so.1"), build("liba.so.2")) == "");
  CHECK(changes(build("liba.so.1"), build("libb.so.1")) == "build_index 0→1235 1\nbuild_index 1235→0 1\n");
  // Valgrind does not say modules of frames with lines.
  Profile foreign = build("libb.so.1");
  foreign.dialect = Dialect::kValgrind;
  CHECK(changes(build("liba.so.1"), foreign) == "");
}

TEST_CASE("frames without names are told apart by address only in one and the same module") {
  const auto build = [](uint64_t moved, const std::string& build_id) {
    ScenePlan plan;
    plan.add_device("host");
    SizedNumbers n;
    n.total_bytes = n.peak_bytes = 1235, n.total_blocks = n.peak_blocks = 1;
    plan.add_site({{"one", "/x.cc", 1}, {"main", "/x.cc", 2}}, n);
    n.total_bytes = n.peak_bytes = 9000;
    plan.add_site({{"two", "/x.cc", 3}, {"main", "/x.cc", 2}}, n);
    Profile profile = plan.take();
    profile.modules[0].build_id = build_id;
    for (Frame& frame : profile.frames) {
      frame.svma += moved;
      frame.function.clear();
      frame.file.clear();
      frame.line = 0;
    }
    canonicalize(&profile);
    return profile;
  };
  CHECK(diff_profiles(build(0, "one"), build(0, "one")).devices[0].places.size() == 2);
  CHECK(changes(build(0, "one"), build(0, "one")) == "");
  CHECK(diff_profiles(build(0, "one"), build(0x400, "two")).devices[0].places.size() == 1);
  CHECK(changes(build(0, "one"), build(0x400, "two")) == "");
}

TEST_CASE("a program and its stripped copy have the same functions") {
  const auto build = [](bool is_stripped, const std::string& build_id) {
    Profile profile = profile_of({{{kIndex, kLoad, kMain}, 10, 100'000}, {{user("other"), kMain}, 1, 1235}});
    profile.modules[0].build_id = build_id;
    for (Frame& frame : profile.frames) {
      frame.svma = 0x1000 + frame.function.size() * 16;  // the same in both, whatever canonical order makes of them
      if (is_stripped) frame.function.clear(), frame.file.clear(), frame.line = 0;
    }
    canonicalize(&profile);
    return profile;
  };
  CHECK(changes(build(false, "one"), build(true, "one")) == "");
  CHECK(changes(build(true, "one"), build(false, "one")) == "");
  CHECK(diff_profiles(build(false, "one"), build(true, "one")).devices[0].places.size() == 2);
  CHECK(changes(build(false, "one"), build(true, "two")) != "");
}

TEST_CASE("rows of small sites are matched by the frames that they show") {
  const Step small{"[small sites]", "", 0};
  Profile grouped = profile_of({{{kIndex, kLoad, small}, 10, 100'000}});
  for (Frame& frame : grouped.frames) {
    if (frame.function == "[small sites]") frame.svma = 0, frame.module = kNoModule;
  }
  const Profile whole = profile_of({{{kIndex, kLoad, kMain, kStart}, 10, 100'000}});
  CHECK(changes(grouped, whole) == "");
  CHECK(diff_profiles(grouped, whole).devices[0].places[0].stacks.size() == 1);
}

TEST_CASE("a device that one profile lacks is new or gone as a whole") {
  const Profile two = assembled(small_sample());
  Profile one = two;
  one.devices.resize(1);
  const ProfileDiff diff = diff_profiles(one, two);
  REQUIRE(diff.devices.size() == 2);
  CHECK(diff.devices[1].name == "cuda:0");
  CHECK((!diff.devices[1].is_in[kBase] && diff.devices[1].is_in[kCurrent]));
  CHECK(diff.devices[1].change(Metric::kPeak).base == 0);
  CHECK(diff.devices[1].change(Metric::kPeak).current == 1 << 20);
  CHECK(diff_profiles(two, one).devices[1].change(Metric::kPeak).current == 0);
  check_sums(one, two);
  const Profile nothing;
  check_sums(nothing, two);
  CHECK(diff_profiles(nothing, nothing).devices.empty());
}

TEST_CASE("what is no change: a share of the base, or the slack") {
  const Tolerance tolerance;
  CHECK(is_within({1'000'000, 1'010'000}, Metric::kPeak, tolerance));
  CHECK_FALSE(is_within({1'000'000, 1'010'001}, Metric::kPeak, tolerance));
  CHECK_FALSE(is_within({1'010'001, 1'000'000 - 101}, Metric::kPeak, tolerance));
  CHECK(is_within({0, 4096}, Metric::kLeaked, tolerance));
  CHECK_FALSE(is_within({0, 4097}, Metric::kLeaked, tolerance));
  CHECK(is_within({5, 15}, Metric::kAllocations, tolerance));
  CHECK_FALSE(is_within({5, 16}, Metric::kAllocations, tolerance));
  CHECK(is_within({UINT64_MAX, UINT64_MAX - 5000}, Metric::kTotal, tolerance));
  CHECK(is_growth({0, 4097}, Metric::kLeaked, tolerance));
  CHECK_FALSE(is_growth({4097, 0}, Metric::kLeaked, tolerance));
}

TEST_CASE("a large place that explains the growth is ranked even if it grew by less than its share") {
  const Profile base =
      profile_of({{{kIndex, kMain, kStart}, 10, 100'000'000}, {{user("a"), kMain, kStart}, 10, 1'000'000}});
  const Profile current =
      profile_of({{{kIndex, kMain, kStart}, 10, 100'900'000}, {{user("a"), kMain, kStart}, 10, 1'400'000}});
  const DeviceChange device = diff_profiles(base, current).devices[0];
  CHECK(rank_changes(device, Metric::kPeak, {}).size() == 2);
  CHECK(rank_changes(device, Metric::kPeak, {{2, 100}, 4096, 10}).size() == 1);
}
