// tests/unit/model/work_time_test.cc: what is asked of the work of a run, and not of what Python imports before it.
#include "cli/model/analysis/findings.h"
#include "cli/model/profile/python_code.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

constexpr size_t kMoments = 40;
constexpr size_t kImported = 32;  // moments

// In a run of 10 s: imports until 8 s, and what work() has at each moment from then on.
Scene after_imports(const std::vector<uint64_t>& work, bool is_python = true) {
  std::vector<uint64_t> imported;
  std::vector<uint64_t> worked;
  for (size_t i = 0; i < kMoments; ++i) {
    imported.push_back(200'000 * std::min(i + 1, kImported));
    worked.push_back(i < kImported ? 0 : work[i - kImported]);
  }
  Scene scene;
  scene.add({{"import torch", "", 0}, kMain}, blocks(1000, 6'400)).live(imported);
  scene.add({kWork, kMain}, blocks(1000, *std::max_element(work.begin(), work.end()) / 1000)).live(worked);
  if (is_python) {
    scene.profile().modules.emplace_back().path = kPythonModule;
    for (Frame& frame : scene.profile().frames) {
      if (frame.function == "import torch") frame.module = static_cast<uint32_t>(scene.profile().modules.size() - 1);
    }
  }
  scene.host().timeline.bucket_ns = kSecond / 4;
  for (size_t i = 0; i < kMoments; ++i) {
    const uint64_t live = imported[i] + worked[i];
    scene.host().timeline.buckets.push_back({live, live});
    if (live == scene.host().totals.peak_bytes) scene.host().totals.peak_ns = i * kSecond / 4 + 1;
  }
  return scene;
}

const std::vector<uint64_t> kGrows{300'000, 600'000, 900'000, 1'200'000, 1'500'000, 1'800'000, 2'100'000, 2'400'000};

}  // namespace

TEST_CASE("growth is asked of the work, however long Python imported before it") {
  CHECK(after_imports(kGrows).kinds() == "growth");
  CHECK(after_imports(kGrows, false).kinds() == "");  // the end of what is allocated at a steady pace from the start
  // Data that is loaded within a second, at the end of a longer run.
  Scene brief = after_imports(kGrows);
  brief.profile().run.duration_ns = 3 * kSecond;
  for (uint64_t& moment_ns : brief.host().moments_ns) moment_ns = moment_ns * 3 / 10;
  brief.host().timeline.bucket_ns = brief.host().timeline.bucket_ns * 3 / 10;
  CHECK(brief.kinds().empty());
}

TEST_CASE("what is imported amid the work is part of it") {
  Scene late = after_imports(kGrows);
  std::vector<uint64_t>& work = late.host().sites[1].live_bytes;
  for (size_t i = 0; i < kMoments; ++i) work[i] = 75'000 * (i + 1);  // from the start
  CHECK(late.found()[0].over_ns > 7 * kSecond);
}

TEST_CASE("what is imported after a pause is part of the work") {
  Scene late = after_imports(kGrows);
  std::vector<uint64_t>& imported = late.host().sites[0].live_bytes;
  for (size_t i = 0; i < kMoments; ++i)
    imported[i] = i < 4 ? 1'000'000 * (i + 1) : i < kImported ? 4'000'000 : 6'400'000;
  CHECK(late.kinds().empty());  // what grows at the end of 10 s of work
}

TEST_CASE("a spike is short beside the work") {
  std::vector<uint64_t> work(kMoments - kImported, 100'000);
  std::fill(work.begin() + 2, work.begin() + 5, 40'000'000);
  CHECK(after_imports(work).kinds() == "spike");
  std::fill(work.begin() + 2, work.begin() + 6, 40'000'000);
  CHECK(after_imports(work).kinds().empty());  // half of the work
  CHECK(after_imports(work, false).kinds() == "spike");
}
