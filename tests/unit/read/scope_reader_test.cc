// tests/unit/read/scope_reader_test.cc: scopes and marks come back as they went, and a file whose scopes cannot be is
// refused.
#include "tests/support/sample_profile.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>

#include <array>
#include <string>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

Profile with_scopes() {
  Profile profile = test::assembled(test::small_sample());
  Scopes& scopes = profile.scopes;
  Scope outer;
  outer.category = "io";
  outer.name = "lesen \"ä\" \\x1b";
  outer.begun = 11;
  outer.ended = 7;
  outer.left_open = 3;
  outer.time_ns = 5001;
  outer.own_time_ns = 4001;
  outer.shortest_ns = 12;
  outer.longest_ns = 3001;
  outer.items = UINT64_MAX;
  outer.kernel_launches = 9;
  outer.durations = {0, 1, 15, 2, kDurationBuckets - 1, 4};
  outer.memory = {{"host", 1, 2, 3, 4, 5}, {"cuda:0", 6, 7, 8, 9, 10}};
  outer.calls = {{"copy", 1, 2, 3}, {"set", 4, 5, 6}};
  outer.instances = {{10, 3011, 3001, INT64_MIN, 4711, 0},
                     {10, 22, 12, 0, 4711, kInstanceLeftOpen | kInstanceApart},
                     {77, UINT64_MAX, 5, INT64_MAX, UINT32_MAX, kInstanceOpen | kInstanceLeft}};
  outer.instance_memory = {{"host", {1, 2, 3}, {UINT64_MAX, 5, 6}}, {"cuda:0", {0, 0, 0}, {0, 7, 0}}};
  outer.unkept_instances = 8;
  outer.launches.kernels = {{"gemm \"x\"", {1, 2, 3}, {4, 5, 6}, 7, UINT64_MAX},
                            {"softmax", {8, 1, 1}, {9, 1, 1}, 0, 2}};
  outer.launches.graphs = {{false, 0, 3}, {true, 12, 4}};
  outer.gpu = {123, 5};
  Scope inner;
  inner.parent = 1;
  inner.begun = 1;  // without a name, and open at the end
  scopes.scopes = {outer, inner};
  scopes.lost = 12;
  scopes.marks = {{"setup", "start", 77, 4711, {{"host", 100, 2}, {"mapped", 4096, 1}}},
                  {"", "", 78, 0, {{"host", 0, 0}}}};
  scopes.lost_marks = 13;
  scopes.unmatched_ends = 14;
  scopes.nvtx_left = 15;
  scopes.outside.kernels = {{kOtherKernels, {}, {}, 0, 9}};
  scopes.gpu = {"scope", {1, 2}, 3, 4, 5, 6, 7};
  scopes.lost_kernel_names = 16;
  return profile;
}

}  // namespace

TEST_CASE("scopes and marks come back, every number of them") {
  const Profile profile = with_scopes();
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.scopes.scopes.size() == 2);
  const Scope& outer = again.scopes.scopes[0];
  const Scope& was = profile.scopes.scopes[0];
  REQUIRE(outer.launches.kernels.size() == 2);
  CHECK(outer.launches.kernels[0].name == "gemm \"x\"");
  CHECK((outer.launches.kernels[0].grid == std::array<uint64_t, 3>{1, 2, 3}));
  CHECK((outer.launches.kernels[0].block == std::array<uint64_t, 3>{4, 5, 6}));
  CHECK(outer.launches.kernels[0].shared_bytes == 7);
  CHECK(outer.launches.kernels[0].count == UINT64_MAX);
  REQUIRE(outer.launches.graphs.size() == 2);
  CHECK_FALSE(outer.launches.graphs[0].is_known);
  CHECK(outer.launches.graphs[1].is_known);
  CHECK(outer.launches.graphs[1].kernels == 12);
  CHECK(outer.launches.graphs[1].count == 4);
  CHECK(outer.gpu.time_ns == 123);
  CHECK(outer.gpu.intervals == 5);
  REQUIRE(again.scopes.outside.kernels.size() == 1);
  CHECK(again.scopes.outside.kernels[0].count == 9);
  CHECK(again.scopes.lost_kernel_names == 16);
  const GpuTimes& gpu = again.scopes.gpu;
  CHECK(gpu.mode == "scope");
  CHECK(gpu.outside.time_ns == 1);
  CHECK(gpu.outside.intervals == 2);
  CHECK(gpu.unread == 3);
  CHECK(gpu.captured == 4);
  CHECK(gpu.untimed == 5);
  CHECK(gpu.waits == 6);
  CHECK(gpu.waits_ns == 7);
  CHECK(outer.parent == 0);
  CHECK(outer.category == was.category);
  CHECK(outer.name == was.name);
  CHECK(outer.begun == 11);
  CHECK(outer.ended == 7);
  CHECK(outer.left_open == 3);
  CHECK(outer.time_ns == 5001);
  CHECK(outer.own_time_ns == 4001);
  CHECK(outer.shortest_ns == 12);
  CHECK(outer.longest_ns == 3001);
  CHECK(outer.items == UINT64_MAX);
  CHECK(outer.kernel_launches == 9);
  CHECK(outer.durations == was.durations);
  REQUIRE(outer.memory.size() == 2);
  CHECK(outer.memory[1].device == "cuda:0");
  CHECK(outer.memory[1].allocated_bytes == 6);
  CHECK(outer.memory[1].allocated_blocks == 7);
  CHECK(outer.memory[1].freed_bytes == 8);
  CHECK(outer.memory[1].freed_blocks == 9);
  CHECK(outer.memory[1].peak_inside_bytes == 10);
  REQUIRE(outer.calls.size() == 2);
  CHECK(outer.calls[1].call == "set");
  CHECK(outer.calls[1].count == 4);
  CHECK(outer.calls[1].duration_ns == 5);
  CHECK(outer.calls[1].size_bytes == 6);
  REQUIRE(outer.instances.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(outer.instances[i].begin_ns == was.instances[i].begin_ns);
    CHECK(outer.instances[i].end_ns == was.instances[i].end_ns);
    CHECK(outer.instances[i].active_ns == was.instances[i].active_ns);
    CHECK(outer.instances[i].growth_bytes == was.instances[i].growth_bytes);
    CHECK(outer.instances[i].thread == was.instances[i].thread);
    CHECK(outer.instances[i].flags == was.instances[i].flags);
  }
  REQUIRE(outer.instance_memory.size() == 2);
  CHECK(outer.instance_memory[1].device == "cuda:0");
  CHECK(outer.instance_memory[0].before_bytes == was.instance_memory[0].before_bytes);
  CHECK(outer.instance_memory[1].after_bytes == was.instance_memory[1].after_bytes);
  CHECK(outer.unkept_instances == 8);
  CHECK(again.scopes.scopes[1].instances.empty());
  CHECK(again.scopes.scopes[1].parent == 1);
  CHECK(again.scopes.scopes[1].memory.empty());
  CHECK(again.scopes.lost == 12);
  CHECK(again.scopes.lost_marks == 13);
  CHECK(again.scopes.unmatched_ends == 14);
  CHECK(again.scopes.nvtx_left == 15);
  REQUIRE(again.scopes.marks.size() == 2);
  CHECK(again.scopes.marks[0].name == "start");
  CHECK(again.scopes.marks[0].at_ns == 77);
  CHECK(again.scopes.marks[0].thread == 4711);
  REQUIRE(again.scopes.marks[0].memory.size() == 2);
  CHECK(again.scopes.marks[0].memory[1].device == "mapped");
  CHECK(again.scopes.marks[0].memory[1].live_bytes == 4096);
  CHECK(again.scopes.marks[0].memory[1].live_blocks == 1);
}

TEST_CASE("a profile without scopes says nothing of them") {
  CHECK(test::written(test::assembled(test::small_sample())).find("\"scopes\"") == std::string::npos);
}

TEST_CASE("a file whose scopes cannot be is refused") {
  const std::string text = test::written(with_scopes());
  const std::pair<const char*, const char*> damages[] = {
      {"\"parent\":1", "\"parent\":2"},           // in itself
      {"\"parent\":0", "\"parent\":1"},           // likewise, the first one
      {"\"parent\":1", "\"parent\":4294967295"},  // in none that there is
      {"\"parent\":1", "\"parent\":-1"},
      {"[0,1,15,2,975,4]", "[0,1,15,2,975]"},
      {"[0,1,15,2,975,4]", "[0,1,15,2,15,4]"},
      {"[0,1,15,2,975,4]", "[15,1,0,2,975,4]"},
      {"[0,1,15,2,975,4]", "[0,1,15,2,976,4]"},
      {"[0,1,15,2,975,4]", "[0,1,15,2,975,\"4\"]"},
      {"[0,1,15,2,975,4]", "{}"},
      {"\"grid\":[1,2,3]", "\"grid\":[1,2]"},
      {"\"block\":[4,5,6]", "\"block\":[4,5,\"6\"]"},
      {"\"is_known\":true", "\"is_known\":1"},
      {"\"mode\":\"scope\"", "\"mode\":3"},
      {"\"begun_count\":11", "\"begun_count\":18446744073709551616"},
      {"\"left_open_count\":3", "\"left_open_count\":null"},
      {"\"lost_count\":12", "\"lost_count\":12,\"lost_count\":12"},
      {"\"call\":\"set\"", "\"call\":7"},
      {"\"at_ns\":77", "\"at_ns\":[]"},
      {"\"marks\":[", "\"marks\":[7,"},
      {"\"begin_ns\":[10,10,77]", "\"begin_ns\":[10,10]"},  // columns of other lengths
      {"\"begin_ns\":[10,10,77]", "\"begin_ns\":[]"},
      {"\"end_ns\":[3011,22,", "\"end_ns\":[3011,22,1,"},
      {"\"active_ns\":[3001,", "\"active_ns\":["},
      {"\"thread\":[4711,", "\"thread\":[4711,4711,"},
      {"\"growth_bytes\":[", "\"growth_bytes\":[1,"},
      {"\"flags\":[0,9,6]", "\"flags\":[0]"},
      {"\"live_before_bytes\":[1,2,3]", "\"live_before_bytes\":[1,2]"},
      {"\"live_after_bytes\":[0,7,0]", "\"live_after_bytes\":[]"},
      {"\"begin_ns\":[10,10,77]", "\"begin_ns\":[10,9,77]"},  // not in order
      {"\"end_ns\":[3011,22,", "\"end_ns\":[3011,9,"},        // before its begin
      {"\"active_ns\":[3001,", "\"active_ns\":[3002,"},       // longer than it was there
      {"\"thread\":[4711,", "\"thread\":[4294967296,"},
      {"\"flags\":[0,9,6]", "\"flags\":[0,9,4294967296]"},
      {"\"growth_bytes\":[-9223372036854775808,", "\"growth_bytes\":[-9223372036854775809,"},
      {"\"instances\":{", "\"instances\":{\"end_ns\":[1],"},
      {"\"unkept_instances_count\":8", "\"unkept_instances_count\":-8"},
  };
  REQUIRE(kDurationBuckets == 976);
  for (const auto& [from, to] : damages) {
    INFO(from << " as " << to);
    CHECK_FALSE(test::read_text(test::replaced(text, from, to)).ok());
  }
  // What a later version may add is passed over.
  CHECK(test::read_text(test::replaced(text, "\"begun_count\":11", "\"begun_count\":11,\"later\":[{}]")).ok());
}

TEST_CASE("a file cut anywhere in its scopes is refused, and nothing crashes") {
  const std::string text = test::written(with_scopes());
  const size_t first = text.find("\"scopes\"");
  REQUIRE(first != std::string::npos);
  for (size_t size = first; size < first + 1500 && size + 2 < text.size(); ++size)
    CHECK_FALSE(test::read_text(text.substr(0, size)).ok());
}
