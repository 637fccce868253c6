// tests/unit/model/python_rows_test.cc: rows of small sites keep the user's own line of a Python program's stacks, so
// that they are placed, and judged, as the sites were.
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/group.h"
#include "cli/model/analysis/packages.h"
#include "cli/model/analysis/python/keeps.h"
#include "cli/model/analysis/python/rows.h"
#include "cli/model/profile/canonical.h"
#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const PythonCall kTorch = {"<module>", kSystemSite + "torch/__init__.py", 140};

// So many calls inside of a library, which no two stacks share.
std::vector<PythonCall> deep(int number) {
  std::vector<PythonCall> calls = {kNewDict};
  for (int i = 0; i < 30; ++i)
    calls.push_back(native(fmt::format("f{}_{}", i, i < 2 ? number : 0), kSystemSite + "torch/_C.so"));
  return calls;
}

std::vector<PythonCall> joined(std::vector<PythonCall> calls, const std::vector<PythonCall>& outer) {
  calls.insert(calls.end(), outer.begin(), outer.end());
  return calls;
}

std::map<std::string, uint64_t> places_of(Profile* profile, const FoldRules& rules = {}) {
  PlaceTree tree;
  mark_folded(rules, profile, &tree);
  std::map<std::string, uint64_t> sums;
  for (const Place& place : find_places(*profile, tree, profile->devices[0]))
    sums[fmt::format("{}:{}", profile->frames[place.frame].function, profile->frames[place.frame].line)] +=
        place.numbers.peak_bytes;
  return sums;
}

PythonScene many_small_sites() {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate}, 100'000'000, 10'000'000);
  for (int i = 0; i < 40; ++i) {
    scene.add(joined(deep(i), {kTorch, kFind, kMainModule, kEvaluate, kBytesMain}), 100);
    scene.add(joined(deep(i), {kTrain, kMainModule, kEvaluate, kBytesMain}), 10);
    scene.add(joined({kNewDict, native(fmt::format("g{}", i), kPython)}, {kInitialize, kBytesMain}), 1);
  }
  return scene;
}

std::map<PythonKeep, uint64_t> kept_bytes(const Profile& profile) {
  std::map<PythonKeep, uint64_t> sums;
  const std::vector<PythonKeep> keeps = find_python_keeps(profile, profile.devices[0]);
  for (size_t i = 0; i < keeps.size(); ++i) sums[keeps[i]] += profile.devices[0].sites[i].numbers.leaked_bytes;
  return sums;
}

}  // namespace

TEST_CASE("rows of small sites are placed as the sites were") {
  Profile whole = many_small_sites().take();
  canonicalize(&whole);
  Profile grouped = whole;
  CHECK(group_small_sites(&grouped, {1, 4}) == 120);
  CHECK(grouped.devices[0].sites.size() < whole.devices[0].sites.size() / 2);
  const std::map<PythonKeep, uint64_t> kept = kept_bytes(whole);
  CHECK(kept.at(PythonKeep::kModules) == 4000);
  CHECK(kept.at(PythonKeep::kStart) == 40);
  CHECK(kept_bytes(grouped) == kept);
  const std::map<std::string, uint64_t> places = places_of(&grouped);
  CHECK(places.at("import torch:3") == 4000);
  CHECK(places.at("train:24") == 100'000'400);
}

namespace {

// Peak bytes by what a view shows.
std::string view_of(Profile profile, bool has_libraries) {
  FoldRules rules;
  rules.libraries = has_libraries;
  std::map<std::string, uint64_t> sums = places_of(&profile, rules);
  PlaceTree tree;
  mark_folded(rules, &profile, &tree);
  for (const Package& package : find_packages(profile, tree, profile.devices[0], Metric::kPeak))
    sums["package " + package.name] += package.numbers.peak_bytes;
  std::string text;
  for (const auto& [name, bytes] : sums) text += fmt::format("{} {}\n", name, bytes);
  return text;
}

}  // namespace

TEST_CASE("rows are of the places, libraries' lines and packages that the sites were of") {
  const std::string json = "/usr/lib/python3.11/json/decoder.py";
  const std::vector<std::vector<PythonCall>> asks = {
      {{"make", kSystemSite + "attr/_make.py", 294}},
      {{"decode", json, 337}},
      {native("scan", "/usr/lib/python3.11/lib-dynload/_json.cpython-311.so")},
      {native("register_all", kSystemSite + "torch/_C.so")},
      {native("f", kPython)},
      {{"<module>", kSystemSite + "pip/__init__.py", 7}, kGetCode, kFind},
      {kTorch, kGetCode, kFind, {"reload", "/usr/lib/python3.11/importlib/__init__.py", 169}},
      {{"<module>", kSystemSite + "pip/plugin.py", 5},
       {"exec_module", "<frozen importlib._bootstrap_external>", 940},
       {"load", kSystemSite + "pip/load.py", 10}},
      {{"made", "", 1}},
      {native("X_new", "/usr/lib/x86_64-linux-gnu/libX.so")},
      {{"_hookexec", kSystemSite + "pluggy/_manager.py", 80}},
      {kEvaluate}};
  const std::string host = "/usr/bin/blender";
  const std::string own = "/home/me/app/tool";
  const PythonCall callback = native("X_loop", "/usr/lib/x86_64-linux-gnu/libX.so");
  const PythonCall started = {"main", kSystemSite + "pip/__main__.py", 24};
  const std::vector<std::vector<std::vector<PythonCall>>> programs = {
      {{kMainModule, kEvaluate, kBytesMain},
       {kInitialize, kBytesMain},
       {started, kBytesMain},
       {started, {"_run_code", "<frozen runpy>", 88}, kBytesMain},
       {native("Py_FinalizeEx", kPython), kBytesMain},
       {callback},
       {kBytesMain}},
      {{kMainModule, native("_PyEval_EvalFrameDefault", host), native("BPY_run", host), native("WM_main", host)},
       {started, native("_PyEval_EvalFrameDefault", host), native("BPY_run", host), native("WM_main", host)},
       {native("Py_InitializeFromConfig", host), native("WM_main", host)},
       {native("BKE_mesh", host), native("WM_main", host)},
       {callback, native("WM_main", host)}},
      {{kMainModule, kEvaluate, native("run", own), native("main", own)},
       {started, kEvaluate, native("run", own), native("main", own)},
       {kInitialize, native("main", own)},
       {native("torch::f", kSystemSite + "torch/_C.so"), native("main", own)},
       {callback, native("main", own)}}};
  std::mt19937 random(3);
  size_t saved = 0;
  for (size_t round = 0; round < 120; ++round) {
    const std::vector<std::vector<PythonCall>>& outermost = programs[round % programs.size()];
    const size_t deepest = round % 20 == 0 ? 60 : 9;
    PythonScene scene;
    // Two stay alone: by its evaluator it is known of the host that it is one.
    scene.add({kNewDict, kTrain, kMainModule, kEvaluate}, 100'000'000, 10'000'000);
    scene.add(joined({kNewDict, kTrain}, outermost[0]), 90'000'000, 9'000'000);
    std::set<std::string> known;
    for (int i = 0; i < 60; ++i) {
      std::vector<PythonCall> stack;
      if (random() % 4 != 0) stack.push_back(kNewDict);
      std::string key = stack.empty() ? "-" : "";
      for (size_t deep = random() % deepest; deep > 0; --deep) {
        const size_t ask = random() % asks.size();
        stack.insert(stack.end(), asks[ask].begin(), asks[ask].end());
        key += static_cast<char>('a' + ask);
      }
      const size_t outer = random() % outermost.size();
      key += static_cast<char>('A' + outer);
      if (!known.insert(key).second) continue;
      scene.add(joined(stack, outermost[outer]), 1 + random() % 500);
      if (i % 4 != 0) scene.last().numbers.leaked_bytes = scene.last().numbers.leaked_blocks = 0;
    }
    Profile whole = scene.take();
    canonicalize(&whole);
    Profile grouped = whole;
    CHECK(group_small_sites(&grouped, {2, 1}) > 30);
    saved += whole.devices[0].sites.size() - grouped.devices[0].sites.size();
    INFO("round " << round);
    CHECK(view_of(grouped, true) == view_of(whole, true));
    CHECK(view_of(grouped, false) == view_of(whole, false));
  }
  CHECK(saved > 40);
}

TEST_CASE("a row keeps nothing besides where it has the user's own line already, and else says what is left out") {
  Profile profile = many_small_sites().take();
  const PythonRows rows(profile);
  std::vector<uint32_t> besides;
  for (const Site& site : profile.devices[0].sites) {
    std::vector<uint32_t> stack;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent)
      stack.push_back(profile.nodes[node].frame);
    rows.find(stack, stack.size(), &besides);
    CHECK(besides.empty());
    rows.find(stack, 1, &besides);
    CHECK(besides.size() >= 1);
    CHECK(besides.size() <= 9);
  }
}
