// tests/unit/model/python_keeps_test.cc: what a Python interpreter keeps at its end is shown apart; what the user's own
// code left is not, however it tries to look alike.
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/python/keeps.h"
#include "cli/model/analysis/suppressions.h"
#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const PythonCall kNumpyModule = {"<module>", kSystemSite + "numpy/__init__.py", 140};
const PythonCall kNumpy =
    native("array_new", kSystemSite + "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so");
const PythonCall kRealloc = native("", kPython);

PythonKeep keep_in(PythonScene* scene) {
  const Profile profile = scene->take();
  return find_python_keeps(profile, profile.devices[0]).back();
}
PythonKeep keep_of(const std::vector<PythonCall>& calls) {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate}).add(calls);
  return keep_in(&scene);
}

}  // namespace

TEST_CASE("what the interpreter makes before any code of the user's runs is its own") {
  CHECK(keep_of({kNewDict, kInitialize, kBytesMain}) == PythonKeep::kStart);
  CHECK(keep_of({kNewDict, {"<module>", "<frozen os>", 9}, kFind, kEvaluate, kInitialize}) == PythonKeep::kStart);
  CHECK(keep_of({kNewDict, native("Py_FinalizeEx", kPython), kBytesMain}) == PythonKeep::kStart);
  // An embedded one is started by a program's own function.
  CHECK(keep_of({kNewDict, kInitialize, native("main", "/opt/editor")}) == PythonKeep::kStart);
  CHECK(keep_of({kNewDict, native("PyList_Append", kPython), native("main", "/opt/editor")}) == PythonKeep::kNone);
}

TEST_CASE("modules that stay loaded are the interpreter's, with what their libraries allocate on the way") {
  CHECK(keep_of({kNewDict, kNumpyModule, kFind, kMainModule, kEvaluate}) == PythonKeep::kModules);
  CHECK(keep_of({kNumpy, kNumpyModule, kFind, kMainModule, kEvaluate}) == PythonKeep::kModules);
  CHECK(keep_of({kNewDict, kGetCode, kFind, kMainModule, kEvaluate}) == PythonKeep::kModules);
}

TEST_CASE("a leak of the user's stays one, wherever it is made") {
  const PythonCall own_module = {"<module>", "/home/me/app/cache.py", 2};
  const PythonCall own_extension = native("forget", "/home/me/app/fast.cpython-311-x86_64-linux-gnu.so");
  CHECK(keep_of({kNewDict, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNumpy, kEvaluate, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kMainModule, kEvaluate}) == PythonKeep::kNone);  // a list of a module's
  CHECK(keep_of({kNewDict, own_module, kFind, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({own_extension, kEvaluate, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({own_extension, kFind, kMainModule, kEvaluate}) == PythonKeep::kNone);  // while it is loaded
  CHECK(keep_of({kNewDict, own_extension, kFind, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kTrain, kNumpyModule, kFind, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, {"g", "<string>", 1}, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
}

TEST_CASE("what a library does for nobody that can be seen is no part of the interpreter's start") {
  const PythonCall worker = {"_worker", "/usr/lib/python3.11/concurrent/futures/thread.py", 83};
  const PythonCall json = {"loads", "/usr/lib/python3.11/json/__init__.py", 346};
  CHECK(keep_of({kNewDict, json, worker, kEvaluate, native("thread_run", kPython)}) == PythonKeep::kNone);
  CHECK(keep_of({native("run", "/usr/lib/libgomp.so.1")}) == PythonKeep::kNone);
  CHECK(keep_of({kNumpy, kInitialize}) == PythonKeep::kNone);
}

TEST_CASE("code that is run again and again leaves no module that stays") {
  const PythonCall reload = {"reload", "/usr/lib/python3.11/importlib/__init__.py", 169};
  const PythonCall exec = {"exec_module", "<frozen importlib._bootstrap_external>", 940};
  const PythonCall find = {"_find_and_load", "<frozen importlib._bootstrap>", 1178};
  CHECK(keep_of({kNewDict, kNumpyModule, exec, reload, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kNumpyModule, find, reload, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kNumpyModule, exec, kTrain, kMainModule, kEvaluate}) == PythonKeep::kNone);
}

TEST_CASE("where frames are missing nothing is assumed") {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kEvaluate}).add({kNewDict, kInitialize, kBytesMain});
  scene.last().truncated = true;
  CHECK(keep_in(&scene) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kEvaluate, kBytesMain}) == PythonKeep::kNone);
  CHECK(keep_of({kNewDict, kEvaluate, kNumpyModule, kFind, kMainModule, kEvaluate}) == PythonKeep::kNone);
  PythonScene cut;
  cut.add({kNewDict, kTrain, kEvaluate});
  Profile profile = cut.take();
  Frame pseudo;
  pseudo.function = "[small sites]";
  profile.frames.push_back(pseudo);
  const auto at = [&](const std::string& function) {
    for (uint32_t i = 0; i < profile.frames.size(); ++i) {
      if (profile.frames[i].function == function) return i;
    }
    return 0u;
  };
  profile.nodes.push_back({0, at("[small sites]")});
  profile.nodes.push_back({static_cast<uint32_t>(profile.nodes.size() - 1), at("PyDict_New")});
  profile.devices[0].sites[0].node = static_cast<uint32_t>(profile.nodes.size() - 1);
  CHECK(find_python_keeps(profile, profile.devices[0])[0] == PythonKeep::kNone);
}

TEST_CASE("the table of interned strings is the interpreter's, the strings are not") {
  const PythonCall intern = native("PyUnicode_InternInPlace", kPython);
  CHECK(keep_of({kRealloc, native("PyDict_SetDefault", kPython), intern, kTrain, kMainModule}) == PythonKeep::kStrings);
  CHECK(keep_of({kRealloc, native("PyUnicode_New", kPython), intern, kTrain, kMainModule}) == PythonKeep::kNone);
  CHECK(keep_of({kRealloc, kTrain, intern, kMainModule}) == PythonKeep::kNone);
}

TEST_CASE("the table of arenas is one block, of a size that such tables have, from where nothing else comes from") {
  const std::vector<PythonCall> table = {kRealloc, native("PyList_New", kPython), kTrain, kMainModule, kEvaluate};
  const auto keep_with = [&](uint64_t bytes, uint64_t other_bytes) {
    PythonScene scene;
    if (other_bytes != 0) scene.add({kRealloc, kNewDict, kTrain, kMainModule, kEvaluate}, other_bytes);
    scene.add(table, bytes);
    return keep_in(&scene);
  };
  CHECK(keep_with(1536, 0) == PythonKeep::kArenas);
  CHECK(keep_with(768, 0) == PythonKeep::kArenas);
  CHECK(keep_with(1000, 0) == PythonKeep::kNone);
  CHECK(keep_with(2304, 0) == PythonKeep::kNone);
  CHECK(keep_with(1536, 4000) == PythonKeep::kNone);
  CHECK(keep_with(1536, 1536) == PythonKeep::kNone);  // two are none
}

TEST_CASE("with debug information the table of arenas is what makes an arena asks for") {
  PythonScene scene;
  const std::string source = "/src/Python/Objects/obmalloc.c";
  const auto in_obmalloc = [&](const std::string& function) {
    PythonCall call = native(function, kPython);
    call.source = source;
    return call;
  };
  scene.add({in_obmalloc("arena_map_get"), in_obmalloc("new_arena"), in_obmalloc("pymalloc_alloc"), kNewDict, kTrain,
             kMainModule, kEvaluate});
  CHECK(keep_in(&scene) == PythonKeep::kArenas);
  scene = PythonScene();
  scene.add({kNewDict, kTrain, kEvaluate});
  scene.add({in_obmalloc("arena_map_get"), in_obmalloc("new_arena"), kNewDict, kInitialize, kBytesMain});
  CHECK(keep_in(&scene) == PythonKeep::kStart);
  scene = PythonScene();
  scene.add({in_obmalloc("pymalloc_alloc"), kNewDict, kTrain, kMainModule, kEvaluate});
  CHECK(keep_in(&scene) == PythonKeep::kNone);
}

TEST_CASE("what is kept is suppressed by rules that are built in, and stays in the sums") {
  PythonScene scene;
  scene.add({kNewDict, kInitialize, kBytesMain}, 300);
  scene.add({kNewDict, kNumpyModule, kFind, kMainModule, kEvaluate}, 70);
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate}, 5);
  Profile profile = scene.take();
  Suppressions rules;
  add_default_suppressions(&rules);
  mark_suppressed(rules, &profile);
  const PlaceNumbers sum = sum_of_sites(profile.devices[0]);
  CHECK(sum.leaked_bytes == 5);
  CHECK(sum.suppressed_bytes == 370);
  const std::vector<SuppressedLeaks> by_rule = sum_by_rule(rules, profile.devices[0]);
  for (size_t i = 0; i < rules.size(); ++i) {
    const uint64_t want = rules[i].python == PythonKeep::kStart     ? 300
                          : rules[i].python == PythonKeep::kModules ? 70
                                                                    : 0;
    CHECK(by_rule[i].bytes == want);
  }
  // A rule of the user's comes first, and without the rules all of it is a leak.
  Suppressions own;
  std::vector<FramePattern> folds;
  REQUIRE(parse_suppressions("function:PyDict_New # ours", "my.supp", &own, &folds));
  add_default_suppressions(&own);
  mark_suppressed(own, &profile);
  CHECK(sum_by_rule(own, profile.devices[0])[0].bytes == 375);
}
