// tests/unit/model/packages_test.cc: whose code asked for a Python program's memory.
#include "cli/model/analysis/packages.h"

#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const std::string kSite = "/home/me/.venv/lib/python3.11/site-packages/";

std::string packages_of(PythonScene* scene) {
  const Profile profile = scene->take();
  std::string text;
  uint64_t sum = 0;
  for (const Package& package : find_packages(profile, build_place_tree(profile), profile.devices[0], Metric::kPeak)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", package.name, package.numbers.peak_bytes);
    sum += package.numbers.peak_bytes;
  }
  CHECK(sum == profile.devices[0].totals.peak_bytes);
  return text;
}

}  // namespace

TEST_CASE("a block is of the package that is nearest to it, by Python's frames and by objects") {
  PythonScene scene;
  scene.add({native("new", kSite + "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so"), kMainModule}, 600);
  scene.add({native("dgemm", kSite + "numpy.libs/libopenblas64_p-r0.so"), kMainModule}, 30);
  scene.add({kNewDict, {"merge", kSite + "pandas/core/frame.py", 9}, kMainModule}, 200);
  scene.add({native("new", kSite + "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so"),
             {"merge", kSite + "pandas/core/frame.py", 9},
             kMainModule},
            1);
  scene.add({kNewDict, kMainModule, kEvaluate, kBytesMain}, 100);
  scene.add({kNewDict, {"loads", "/usr/lib/python3.11/json/__init__.py", 346}, kMainModule}, 40);
  scene.add({native("scan", "/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so"), kMainModule}, 2);
  scene.add({kNewDict, kInitialize, kBytesMain}, 20);
  scene.add({native("run", "/usr/lib/libgomp.so.1")}, 10);
  scene.add({native("add", kSite + "_cffi_backend.cpython-311-x86_64-linux-gnu.so"), kMainModule}, 5);
  CHECK(packages_of(&scene) ==
        "numpy 631, pandas 200, (your code) 100, (standard library) 42, (interpreter) 20, (others) 10, _cffi_backend "
        "5");
}

TEST_CASE("a library of the system's is of whoever calls it, PyTorch's of PyTorch") {
  PythonScene scene;
  scene.add({native("dgemm", "/usr/lib/x86_64-linux-gnu/libblas.so.3"),
             native("dot", kSite + "numpy/core/_multiarray_umath.so"), kMainModule},
            7);
  scene.add({native("alloc_cpu", "/usr/lib/x86_64-linux-gnu/libc10.so.1.13"),
             native("empty", "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13"), kMainModule},
            5);
  scene.add({native("run", "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13")}, 3);
  CHECK(packages_of(&scene) == "torch 8, numpy 7");
}

TEST_CASE("the machinery asks for the module that it loads") {
  PythonScene scene;
  scene.add({kNewDict, kGetCode, kFind, {"<module>", kSite + "numpy/__init__.py", 140}, kFind, kMainModule}, 9);
  scene.add({kNewDict, kGetCode, kFind, kMainModule}, 1);
  CHECK(packages_of(&scene) == "numpy 9, (your code) 1");
}

TEST_CASE("a program without frames of Python has no packages") {
  PythonScene scene;
  scene.add({native("f", "/opt/app"), native("main", "/opt/app")});
  const Profile profile = scene.take();
  CHECK(find_packages(profile, build_place_tree(profile), profile.devices[0], Metric::kPeak).empty());
}
