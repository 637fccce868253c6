// tests/unit/model/scopes_test.cc: durations by buckets, scopes in order, and scopes of several processes added up.
#include "cli/model/profile/scopes.h"

#include "cli/model/analysis/scope_paths.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace heapprof::cli;

namespace {

Scope scope(uint32_t parent, const std::string& name, uint64_t begun = 1) {
  Scope result;
  result.parent = parent;
  result.name = name;
  result.begun = result.ended = begun;
  result.memory = {{"host", 10 * begun, begun, begun, 1, 10 * begun}};
  return result;
}

// Names from the outermost on, and what the path came to: none of them twice, each behind its parent.
std::map<std::string, uint64_t> begun_by_path(const Scopes& scopes) {
  std::vector<std::string> paths;
  std::map<std::string, uint64_t> begun;
  for (const Scope& one : scopes.scopes) {
    REQUIRE(one.parent <= paths.size());
    paths.push_back((one.parent == 0 ? "" : paths[one.parent - 1] + "/") + one.category + ":" + one.name);
    CHECK(begun.emplace(paths.back(), one.begun).second);
  }
  return begun;
}

}  // namespace

TEST_CASE("every duration is in the bucket that begins with it or below, within a sixteenth") {
  uint32_t last = 0;
  for (uint32_t bucket = 0; bucket < kDurationBuckets; ++bucket) {
    CHECK(duration_bucket(bucket_duration(bucket)) == bucket);
    if (bucket != 0) CHECK(duration_bucket(bucket_duration(bucket) - 1) == bucket - 1);
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t duration = random() >> random() % 64;
    const uint32_t bucket = duration_bucket(duration);
    REQUIRE(bucket < kDurationBuckets);
    REQUIRE(bucket_duration(bucket) <= duration);
    REQUIRE(duration - bucket_duration(bucket) <= duration / 16);
    last = std::max(last, bucket);
  }
  CHECK(last == kDurationBuckets - 1);
}

TEST_CASE("a percentile is right within a sixteenth, and none is beyond what was measured") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> durations(1 + random() % 300);
    for (uint64_t& duration : durations) duration = random() >> (20 + random() % 40);
    std::sort(durations.begin(), durations.end());
    std::map<uint64_t, uint64_t> counts;
    for (const uint64_t duration : durations) ++counts[duration_bucket(duration)];
    Scope measured = scope(0, "a", durations.size());
    measured.shortest_ns = durations.front();
    measured.longest_ns = durations.back();
    for (const auto& [bucket, count] : counts) measured.durations.insert(measured.durations.end(), {bucket, count});
    for (const unsigned percent : {1u, 50u, 90u, 99u, 100u}) {
      const size_t rank = (durations.size() * percent + 99) / 100;  // so many are not longer
      const uint64_t want = durations[std::max<size_t>(rank, 1) - 1];
      const uint64_t got = percentile_ns(measured, percent);
      CHECK((got > want ? got - want : want - got) <= want / 16);
      CHECK(got >= durations.front());
      CHECK(got <= durations.back());
    }
  }
  CHECK(percentile_ns(Scope{}, 50) == 0);
  Scope hostile;  // what a file may say
  hostile.durations = {kDurationBuckets - 1, UINT64_MAX, kDurationBuckets + 7, UINT64_MAX, 5};
  hostile.shortest_ns = 9;
  hostile.longest_ns = 3;
  for (const unsigned percent : {0u, 50u, 100u}) CHECK(percentile_ns(hostile, percent) == 3);
}

TEST_CASE("scopes are put in order, and those of one path are one") {
  Scopes scopes;
  scopes.scopes = {scope(0, "z"), scope(0, "a"), scope(1, "y"), scope(1, "x"), scope(0, "z", 4), scope(5, "x", 7)};
  scopes.scopes[2].category = "b";
  sort_scopes(&scopes);
  CHECK(begun_by_path(scopes) == std::map<std::string, uint64_t>{{":a", 1}, {":z", 5}, {":z/:x", 8}, {":z/b:y", 1}});
  const Scopes once = scopes;
  sort_scopes(&scopes);
  REQUIRE(scopes.scopes.size() == once.scopes.size());
  for (size_t i = 0; i < once.scopes.size(); ++i) CHECK(scopes.scopes[i].name == once.scopes[i].name);
  Scopes none;
  sort_scopes(&none);
  CHECK(none.empty());
}

TEST_CASE("single runs of scopes that are one are one list, by their begin, each with its memory") {
  Scopes scopes;
  scopes.scopes = {scope(0, "a"), scope(0, "a"), scope(0, "b")};
  scopes.scopes[0].instances = {{10, 20, 10, 1, 1, 0}, {30, 40, 10, 2, 1, 0}};
  scopes.scopes[0].instance_memory = {{"host", {100, 300}, {200, 400}}};
  scopes.scopes[0].unkept_instances = 5;
  scopes.scopes[1].instances = {{5, 50, 45, 3, 2, kInstanceLeftOpen}, {20, 25, 5, 4, 2, 0}};
  scopes.scopes[1].instance_memory = {{"host", {50, 201}, {51, 202}}, {"cuda:0", {7, 8}, {9, 10}}};
  scopes.scopes[1].unkept_instances = 6;
  sort_scopes(&scopes);
  REQUIRE(scopes.scopes.size() == 2);
  const Scope& one = scopes.scopes[0];
  REQUIRE(one.instances.size() == 4);
  CHECK(one.unkept_instances == 11);
  const uint64_t begins[] = {5, 10, 20, 30};
  const int64_t growths[] = {3, 1, 4, 2};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(one.instances[i].begin_ns == begins[i]);
    CHECK(one.instances[i].growth_bytes == growths[i]);
  }
  CHECK(one.instances[0].flags == kInstanceLeftOpen);
  REQUIRE(one.instance_memory.size() == 2);
  CHECK(one.instance_memory[0].before_bytes == std::vector<uint64_t>{50, 100, 201, 300});
  CHECK(one.instance_memory[0].after_bytes == std::vector<uint64_t>{51, 200, 202, 400});
  CHECK(one.instance_memory[1].before_bytes == std::vector<uint64_t>{7, 0, 8, 0});
  CHECK(one.instance_memory[1].after_bytes == std::vector<uint64_t>{9, 0, 10, 0});

  Scopes sum;  // of several programs none is kept
  add_scopes(scopes, &sum);
  REQUIRE(sum.scopes.size() == 2);
  CHECK(sum.scopes[0].instances.empty());
  CHECK(sum.scopes[0].instance_memory.empty());
  CHECK(sum.scopes[0].unkept_instances == 15);
  add_scopes(scopes, &sum);
  CHECK(sum.scopes[0].unkept_instances == 30);
}

// A tree by chance in two orders is the same list.
TEST_CASE("the order in which scopes were met does not matter") {
  std::mt19937 random(9);
  for (int round = 0; round < 50; ++round) {
    Scopes one;
    for (uint32_t i = 0; i < 60; ++i)
      one.scopes.push_back(scope(i == 0 ? 0 : static_cast<uint32_t>(random() % (i + 1)),
                                 std::string(1, static_cast<char>('a' + random() % 4))));
    Scopes two;
    add_scopes(one, &two);
    add_scopes(one, &two);
    for (Scope& each : one.scopes) each.begun *= 2;
    sort_scopes(&one);
    CHECK(begun_by_path(one) == begun_by_path(two));
    Scopes empty;
    add_scopes(empty, &two);
    CHECK(begun_by_path(one) == begun_by_path(two));
  }
}

TEST_CASE("two processes' scopes add up; of peaks, shortest and longest the extreme one stays") {
  Scopes one, two;
  one.scopes = {scope(0, "a", 2)};
  one.scopes[0].shortest_ns = 5;
  one.scopes[0].longest_ns = 7;
  one.scopes[0].time_ns = 12;
  one.scopes[0].durations = {5, 1, 7, 1};
  one.scopes[0].calls = {{"set", 1, 2, 3}};
  one.lost = UINT64_MAX;
  one.marks = {{"", "m", 30, 1, {}}};
  two.scopes = {scope(0, "a", 3)};
  two.scopes[0].shortest_ns = 2;
  two.scopes[0].longest_ns = 6;
  two.scopes[0].time_ns = UINT64_MAX;
  two.scopes[0].left_open = 4;
  two.scopes[0].durations = {2, 2, 7, 1};
  two.scopes[0].calls = {{"copy", 1, 1, 1}, {"set", 10, 20, 30}};
  two.scopes[0].memory.push_back({"cuda:0", 1, 1, 1, 1, 1});
  two.lost = 1;
  two.lost_marks = 2;
  two.unmatched_ends = 3;
  two.nvtx_left = 4;
  two.marks = {{"", "n", 20, 1, {}}};
  add_scopes(two, &one);
  REQUIRE(one.scopes.size() == 1);
  const Scope& sum = one.scopes[0];
  CHECK(sum.begun == 5);
  CHECK(sum.left_open == 4);
  CHECK(sum.shortest_ns == 2);
  CHECK(sum.longest_ns == 7);
  CHECK(sum.time_ns == UINT64_MAX);  // and no sum goes round
  CHECK(sum.durations == std::vector<uint64_t>{2, 2, 5, 1, 7, 2});
  REQUIRE(sum.calls.size() == 2);
  CHECK(sum.calls[0].call == "copy");
  CHECK(sum.calls[1].count == 11);
  CHECK(sum.calls[1].size_bytes == 33);
  REQUIRE(sum.memory.size() == 2);
  CHECK(sum.memory[0].allocated_bytes == 50);
  CHECK(sum.memory[0].peak_inside_bytes == 30);
  CHECK(sum.memory[1].device == "cuda:0");
  CHECK(one.lost == UINT64_MAX);
  CHECK(one.lost_marks == 2);
  CHECK(one.unmatched_ends == 3);
  CHECK(one.nvtx_left == 4);
  REQUIRE(one.marks.size() == 2);
  CHECK(one.marks[0].name == "n");
  Scopes never_ended, ended;
  never_ended.scopes = {scope(0, "a")};
  never_ended.scopes[0].ended = 0;  // its shortest is no time at all
  ended.scopes = {scope(0, "a")};
  ended.scopes[0].shortest_ns = ended.scopes[0].longest_ns = 8;
  for (const auto& [from, into] : {std::pair{never_ended, ended}, std::pair{ended, never_ended}}) {
    Scopes both = into;
    add_scopes(from, &both);
    CHECK(both.scopes.at(0).shortest_ns == 8);
  }
}

TEST_CASE("a scope's memory with that of the scopes inside of it, however deep") {
  Scopes scopes;
  scopes.scopes = {scope(0, "a"), scope(1, "b", 2), scope(2, "c", 3), scope(0, "d", 4)};
  scopes.scopes[2].memory.push_back({"cuda:0", 5, 6, 7, 8, 9});
  const auto sums = memory_with_inner(scopes);
  REQUIRE(sums.size() == 4);
  CHECK(sums[0][0].allocated_bytes == 60);
  CHECK(sums[0][0].allocated_blocks == 6);
  CHECK(sums[0][0].freed_blocks == 3);
  CHECK(sums[0][0].peak_inside_bytes == 10);  // its own, which has theirs in it
  REQUIRE(sums[0].size() == 2);
  CHECK(sums[0][1].freed_bytes == 7);
  CHECK(sums[1][0].allocated_bytes == 50);
  CHECK(sums[3][0].allocated_bytes == 40);
  CHECK(sums[3].size() == 1);
  Scopes deep;
  for (uint32_t i = 0; i < 100'000; ++i) deep.scopes.push_back(scope(i, "f"));
  CHECK(memory_with_inner(deep)[0][0].allocated_bytes == 1'000'000);
  sort_scopes(&deep);
  CHECK(deep.scopes.size() == 100'000);
}

TEST_CASE("a scope is meant by its name or path, with or without categories") {
  Scopes scopes;
  scopes.scopes = {scope(0, "serve"), scope(1, "decode"), scope(2, "copy")};
  scopes.scopes[1].category = "compute";
  const auto meant = [&scopes](const char* glob) { return find_scopes_meant(scopes, glob); };
  const std::vector<uint32_t> decode = {1};
  for (const char* glob : {"decode", "compute: decode", "serve > decode", "serve > compute: decode", "* > *code"})
    CHECK(meant(glob) == decode);
  CHECK(meant("* > dec*") == std::vector<uint32_t>{1, 2});  // a star goes across levels
  CHECK(meant("serve > decode > copy") == std::vector<uint32_t>{2});
  CHECK(meant("serve > compute: decode > copy") == std::vector<uint32_t>{2});
  CHECK(meant("serve > *") == std::vector<uint32_t>{1, 2});
  CHECK(meant("copy > decode").empty());
}
