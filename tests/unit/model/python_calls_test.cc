// tests/unit/model/python_calls_test.cc: which sites lead through a call of the evaluator whose frames are not there.
#include "cli/model/analysis/python/calls.h"
#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const PythonCall kGreenlet = native("", "/srv/venv/site-packages/greenlet/_greenlet.cpython-311-x86_64-linux-gnu.so");
const PythonCall kRunString = native("interp_run_string", "/usr/lib/python3.11/_xxsubinterpreters.so");

uint64_t unread_of(const std::vector<PythonCall>& calls) {
  PythonScene scene;
  return count_unread_python_sites(scene.add(calls).take());
}

}  // namespace

TEST_CASE("a call of the evaluator that runs a frame of Python is read") {
  CHECK(unread_of({kNewDict, kTrain, kMainModule, kEvaluate, kBytesMain}) == 0);
  CHECK(unread_of({kNewDict, kTrain, kEvaluate, kNewDict, kMainModule, kEvaluate, kBytesMain}) == 0);
}

TEST_CASE("a call of the evaluator without one is not, wherever it stands") {
  CHECK(unread_of({kNewDict, kEvaluate, kRunString, kMainModule, kEvaluate, kBytesMain}) == 1);
  CHECK(unread_of({kNewDict, kTrain, kEvaluate, kRunString, kEvaluate, kBytesMain}) == 1);
  CHECK(unread_of({kEvaluate, kRunString, kMainModule, kEvaluate, kBytesMain}) == 1);  // what it asks for itself
}

TEST_CASE("outside of a greenlet are the calls of its parent, whose frames are its own") {
  CHECK(unread_of({kNewDict, kTrain, kEvaluate, kGreenlet, kEvaluate, kBytesMain}) == 0);
  CHECK(unread_of({kNewDict, kEvaluate, kGreenlet, kMainModule, kEvaluate, kBytesMain}) == 1);
}

TEST_CASE("a profile without frames of Python has nothing to be read") {
  CHECK(unread_of({kNewDict, kEvaluate, kBytesMain}) == 0);
}
