// tests/unit/model/python_places_test.cc: where a Python program's memory is said to be: the user's own lines, imports,
// the interpreter's start; and what stands in where a stack has nothing of the user's.
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/python/paths.h"
#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const PythonCall kForward = {"Net.forward", "/home/me/app/train.py", 88};
const PythonCall kLinear = {"Linear.forward", kSystemSite + "torch/nn/modules/linear.py", 114};
const PythonCall kJson = {"loads", "/usr/lib/python3.11/json/__init__.py", 346};
const PythonCall kThread = {"Thread.run", "/usr/lib/python3.11/threading.py", 975};
const PythonCall kNumpy =
    native("array_new", kSystemSite + "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so");

// "function file:line" of the last stack's place, and its callers.
std::string place_in(Profile profile, bool libraries = false) {
  FoldRules rules;
  rules.libraries = libraries;
  PlaceTree tree;
  mark_folded(rules, &profile, &tree);
  const uint32_t node = tree.place_node[profile.devices[0].sites.back().node];
  const Frame& frame = profile.frames[profile.nodes[node].frame];
  std::string text = frame_name(profile, frame);
  if (!frame.file.empty()) text += fmt::format(" {}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
  for (uint32_t outer = tree.user_node[profile.nodes[node].parent]; outer != 0;
       outer = tree.user_node[profile.nodes[outer].parent])
    text += " < " + frame_name(profile, profile.frames[profile.nodes[outer].frame]);
  return text;
}
std::string place_of(const std::vector<PythonCall>& calls, bool libraries = false) {
  PythonScene scene;
  scene.add({kNewDict, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}).add(calls);
  return place_in(scene.take(), libraries);
}
std::string place_at(const std::string& file) {
  return place_of({kNewDict, {"f", file, 1}, kMainModule, kEvaluate, kBytesMain});
}

}  // namespace

TEST_CASE("the place is the innermost line of the user's own, and callers are theirs, too") {
  CHECK(place_of({kNumpy, kLinear, kForward, kTrain, kMainModule, kEvaluate, kBytesMain}) ==
        "Net.forward train.py:88 < train < <module>");
  CHECK(place_of({kNewDict, kJson, kTrain, kMainModule, kEvaluate, kBytesMain}) == "train train.py:24 < <module>");
  CHECK(place_of({kNewDict, kTrain, kThread, kEvaluate, native("start", kPython)}) == "train train.py:24");
}

TEST_CASE("an extension of the user's own is a place, one of a package is not") {
  const PythonCall own = native("fill", "/home/me/app/fast.cpython-311-x86_64-linux-gnu.so");
  CHECK(place_of({own, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}) == "fill < train < <module>");
  CHECK(place_of({kNewDict, own, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}) == "fill < train < <module>");
  CHECK(place_of({kNumpy, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}) == "train train.py:24 < <module>");
}

TEST_CASE("with --libraries a line of a library is a place") {
  CHECK(place_of({kNumpy, kLinear, kForward, kMainModule, kEvaluate}, true) ==
        "Linear.forward linear.py:114 < Net.forward < <module>");
  CHECK(place_of({kNewDict, kJson, kTrain, kMainModule, kEvaluate}, true) ==
        "loads __init__.py:346 < train < <module>");
}

TEST_CASE("a stack without the user's own is placed in the package that runs, else in the standard library") {
  const PythonCall module = {"_run_module_as_main", "<frozen runpy>", 198};
  const PythonCall black = {"format_file", kSystemSite + "black/__init__.py", 900};
  const PythonCall click = {"main", kSystemSite + "click/core.py", 1055};
  CHECK(place_of({kNewDict, click, black, module, kEvaluate, kBytesMain}) == "format_file __init__.py:900");
  CHECK(place_of({kNewDict, kJson, black, click, black, module, kEvaluate}) == "format_file __init__.py:900");
  CHECK(place_of({kNewDict, kJson, kThread, kEvaluate}) == "loads __init__.py:346");
}

TEST_CASE("what python -m imports is in no file, and code without a name stands for who made it") {
  const PythonCall module = {"_get_module_details", "<frozen runpy>", 112};
  const PythonCall black = {"<module>", kSystemSite + "black/__init__.py", 1};
  CHECK(place_of({kNewDict, black, kFind, module, kEvaluate, kBytesMain}) == "import black");
  CHECK(place_of({kNewDict, {"<module>", ""}, kTrain, kMainModule, kEvaluate}) == "train train.py:24 < <module>");
  CHECK(place_of({kNewDict, {"(Python)", ""}, kTrain, kMainModule, kEvaluate}) == "(Python) < train < <module>");
}

TEST_CASE("a launcher that an installer wrote is nobody's, a program of the user's in a folder bin is theirs") {
  const PythonCall launcher = {"<module>", "/home/me/.venv/bin/pytest", 8};
  const PythonCall pytest = {"console_main", kSystemSite + "_pytest/config/__init__.py", 192};
  CHECK(place_of({kNewDict, pytest, launcher, kEvaluate}) == "console_main __init__.py:192");
  const PythonCall program = {"main", "/home/me/bin/pytest", 4};
  CHECK(place_of({kNewDict, pytest, program, launcher, kEvaluate}).starts_with("main pytest:4"));
  PythonScene scene;
  scene.add({kNewDict, program, {"<module>", "/home/me/bin/pytest", 9}, kEvaluate});
  CHECK(place_in(scene.take()) == "main pytest:4 < <module>");
  CHECK(place_of({kNewDict, pytest, {"<module>", "/home/me/bin/pytest", 41}, kEvaluate}) == "<module> pytest:41");
  CHECK(place_of({kNewDict, launcher, kEvaluate}) == "<module> pytest:8");
}

TEST_CASE("whose a file is goes by whole parts of its path") {
  for (const char* own : {"train.py", "/home/me/lib/python3-tools/a.py", "/opt/app/lib/python3.11/app/a.py", "<stdin>",
                          "<ipython-input-3-abc>", "/home/me/app.pyz/pkg/a.py", "/home/me/site-packages.py",
                          "/home/me/pythonx/lib/python3.11x/json/a.py", "/home/me/torch/nn/a.py"})
    CHECK(place_at(own).starts_with("f "));
  for (const char* library :
       {"/usr/lib/python3.11/json/decoder.py", "/home/me/.venv/lib/python3.12/site-packages/x/a.py",
        "/usr/lib/python3/dist-packages/six.py", "venv/lib/python3.11/site-packages/six.py",
        "/usr/lib64/python3.13t/threading.py", "/usr/lib/python311.zip/os.py",
        "/home/me/.pyenv/versions/3.8.18/lib/python3.8/os.py", "/home/me/.pex/installed_wheels/ab/six-1.16.whl/six.py",
        "/opt/x.egg/x/a.py", "<frozen os>", "<attrs generated init a.B>", "<string>",
        "/usr/local/lib/heapprof/python/heapprof/__init__.py"})
    CHECK(place_at(library) == "<module> train.py:3");
}

TEST_CASE("PyTorch is a library wherever it was built") {
  PythonScene scene;
  scene.add({native("alloc", "/home/me/pytorch/torch/lib/libtorch_cpu.so"),
             {"Linear.forward", "/home/me/pytorch/torch/nn/modules/linear.py", 114},
             kForward,
             kMainModule,
             kEvaluate});
  CHECK(place_in(scene.take()) == "Net.forward train.py:88 < <module>");
}

TEST_CASE("<string> is the user's where they typed it, and nobody's where code was made") {
  const std::vector<PythonCall> calls = {kNewDict, {"f", "<string>", 1}, kMainModule, kEvaluate};
  const auto with = [&](const std::vector<std::string>& command, const std::string& executable) {
    PythonScene scene;
    scene.add(calls);
    scene.run().command = command;
    scene.run().executable = executable;
    return place_in(scene.take());
  };
  CHECK(with({"python3", "train.py", "-c"}, kPython) == "<module> train.py:3");
  CHECK(with({"python3", "-c", "f()"}, kPython) == "f <string>:1 < <module>");
  CHECK(with({"python3", "-B", "-c", "f()"}, kPython) == "f <string>:1 < <module>");
  CHECK(with({"python3", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"}, kPython) ==
        "<module> train.py:3");
  CHECK(with({"./editor"}, "/opt/editor") == "f <string>:1 < <module>");
}

TEST_CASE("an import of a library has a line of its own, with what it imports in turn") {
  const PythonCall pandas = {"<module>", kSystemSite + "pandas/__init__.py", 22};
  const PythonCall core = {"<module>", kSystemSite + "pandas/core/api.py", 27};
  const PythonCall numpy = {"<module>", kSystemSite + "numpy/__init__.py", 140};
  const std::vector<PythonCall> inner = {kNumpy, numpy, kFind, core, kFind, pandas, kFind, kMainModule, kEvaluate};
  CHECK(place_of(inner) == "import pandas train.py:3 < <module>");
  // What the machinery itself asks for stands beside it.
  PythonScene scene;
  scene.add(inner).add({kNewDict, kGetCode, kFind, kMainModule, kEvaluate});
  CHECK(place_in(scene.take()) == "import pandas train.py:3 < <module>");
  // A function of the user's that is called while a library is imported is theirs.
  CHECK(place_of({kNewDict, kForward, pandas, kFind, kMainModule, kEvaluate}) ==
        "Net.forward train.py:88 < import pandas < <module>");
}

TEST_CASE("an import that a library makes in a call of the user's has a line as well") {
  const PythonCall read = {"read_excel", kSystemSite + "pandas/io/excel.py", 400};
  const PythonCall openpyxl = {"<module>", kSystemSite + "openpyxl/__init__.py", 4};
  CHECK(place_of({kNewDict, openpyxl, kFind, read, kTrain, kMainModule, kEvaluate}) ==
        "import openpyxl excel.py:400 < train < <module>");
}

TEST_CASE("of a module of the user's own the lines are theirs, its code and classes the import's") {
  const PythonCall own = {"<module>", "/home/me/app/model.py", 7};
  CHECK(place_of({kNewDict, own, kFind, kMainModule, kEvaluate}) == "<module> model.py:7 < import model < <module>");
  PythonScene scene;
  scene.add({kNewDict, own, kFind, kMainModule, kEvaluate}).add({kNewDict, kGetCode, kFind, kMainModule, kEvaluate});
  CHECK(place_in(scene.take()) == "import model train.py:3 < <module>");
  const PythonCall torch = {"<module>", kSystemSite + "torch/__init__.py", 5};
  CHECK(place_of({kNewDict, torch, kFind, own, kFind, kMainModule, kEvaluate}) ==
        "import torch model.py:7 < <module> < import model < <module>");
}

TEST_CASE("a line with several modules names three of them") {
  PythonScene scene;
  for (const char* name : {"d", "a", "c", "b"})
    scene.add({kNewDict, {"<module>", kSystemSite + name + ".py", 1}, kFind, kMainModule, kEvaluate});
  CHECK(place_in(scene.take()) == "import a, b, c, … train.py:3 < <module>");
}

TEST_CASE("what is written in C is named by its file") {
  const PythonCall open = native("dlopen", "/lib/x86_64-linux-gnu/libc.so.6");
  const PythonCall own = native("PyInit_fast", "/home/me/app/fast.cpython-311-x86_64-linux-gnu.so");
  PythonScene scene;
  scene.add({open, kFind, kMainModule, kEvaluate});
  CHECK(place_in(scene.take()) == "import of a module train.py:3 < <module>");
  scene = PythonScene();
  scene.add({kNewDict, own, kFind, kMainModule, kEvaluate}).add({open, kFind, kMainModule, kEvaluate});
  CHECK(place_in(scene.take()) == "import fast train.py:3 < <module>");
}

TEST_CASE("what the interpreter asks for before any code runs is one place") {
  CHECK(place_of({kNewDict, kInitialize, kBytesMain}) == "start of Python");
  CHECK(place_of({kNewDict, {"<module>", "<frozen os>", 9}, kFind, kEvaluate, kInitialize, kBytesMain}) ==
        "start of Python");
  CHECK(place_of({kNewDict, {"main", "<frozen site>", 9}, kFind, kEvaluate, kInitialize}) == "start of Python");
  // A thread of a library's is none of it, nor is a frame of Python that could not be read.
  CHECK(place_of({native("run", "/usr/lib/libgomp.so.1"), native("begin", "/usr/lib/libgomp.so.1")}) == "run < begin");
  CHECK(place_of({kNewDict, kEvaluate, kBytesMain}) == "PyDict_New");
}

TEST_CASE("a program with an interpreter inside has its own functions further out than Python, and none within") {
  const std::string editor = "/opt/editor";
  PythonScene scene;
  scene.add({native("list_resize", editor), native("_PyEval_EvalFrameDefault", editor), kTrain,
             native("_PyEval_EvalFrameDefault", editor), native("run_script", editor), native("main", editor)});
  CHECK(place_in(scene.take()) == "train train.py:24 < run_script < main");
}

TEST_CASE("a method of Python's may have any name") {
  const PythonCall clone = {"clone", "/home/me/app/train.py", 9};
  const PythonCall zmalloc = {"zmalloc", "/home/me/app/train.py", 10};
  CHECK(place_of({kNewDict, clone, kMainModule, kEvaluate}) == "clone train.py:9 < <module>");
  CHECK(place_of({kNewDict, zmalloc, kMainModule, kEvaluate}) == "zmalloc train.py:10 < <module>");
  CHECK(place_of({kNewDict, {"load.<locals>.<listcomp>", "/home/me/app/train.py", 9}, kMainModule}) ==
        "load.<listcomp> train.py:9 < <module>");
}

TEST_CASE("rows are added once, and every number stays") {
  PythonScene scene;
  scene.add({kNewDict, {"<module>", kSystemSite + "six.py", 2}, kFind, kMainModule, kEvaluate}, 700);
  scene.add({kNewDict, kInitialize, kBytesMain}, 300).add({kNewDict, kTrain, kMainModule, kEvaluate}, 50);
  Profile profile = scene.take();
  mark_folded({}, &profile);
  const size_t nodes = profile.nodes.size();
  mark_folded({}, &profile);
  CHECK(profile.nodes.size() == nodes);
  for (uint32_t node = 1; node < nodes; ++node) CHECK(profile.nodes[node].parent < node);
  const PlaceTree tree = build_place_tree(profile);
  uint64_t sum = 0;
  for (const Place& place : find_places(profile, tree, profile.devices[0])) sum += place.numbers.peak_bytes;
  CHECK(sum == 1050);
}
