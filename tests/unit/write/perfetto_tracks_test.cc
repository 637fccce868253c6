// tests/unit/write/perfetto_tracks_test.cc: runs through scopes on tracks: whatever crosses what, slices of one track
// nest, and no run is lost.
#include "cli/write/export/perfetto_parts.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <utility>

using namespace heapprof::cli;

namespace {

Scopes scopes_of(const std::vector<ScopeInstance>& instances) {
  Scopes scopes;
  scopes.scopes.emplace_back().name = "a";
  scopes.scopes.back().instances = instances;
  return scopes;
}

ScopeInstance run(uint64_t begin_ns, uint64_t end_ns, uint32_t thread = 7, uint32_t flags = 0) {
  return {begin_ns, end_ns, end_ns - begin_ns, 0, thread, flags};
}

// How many runs there are, after what a reader of slices does with them.
size_t check_nesting(const ScopeTracks& tracks) {
  std::set<std::pair<uint32_t, uint32_t>> begun;
  for (const ScopeTrack& track : tracks.tracks) {
    std::vector<std::pair<uint32_t, uint32_t>> open;
    uint64_t last_ns = 0;
    for (const ScopeTrackEvent& event : track.events) {
      REQUIRE(event.at_ns >= last_ns);
      last_ns = event.at_ns;
      if (event.is_begin) {
        CHECK(begun.emplace(event.scope, event.instance).second);
        open.emplace_back(event.scope, event.instance);
      } else {
        REQUIRE_FALSE(open.empty());
        CHECK(open.back() == std::make_pair(event.scope, event.instance));
        open.pop_back();
      }
    }
    CHECK(open.empty());
  }
  return begun.size();
}

}  // namespace

TEST_CASE("runs inside of each other share a track, and so do those one after the other") {
  const ScopeTracks tracks = find_scope_tracks(scopes_of({run(0, 100), run(0, 50), run(50, 100), run(60, 60)}));
  CHECK(tracks.tracks.size() == 1);
  CHECK(check_nesting(tracks) == 4);
}

TEST_CASE("a run that crosses another one is on a track of its own, each thread for itself") {
  const ScopeTracks tracks = find_scope_tracks(scopes_of({run(0, 50), run(25, 75), run(0, 50, 8)}));
  REQUIRE(tracks.tracks.size() == 3);
  CHECK(tracks.tracks[0].number == 0);
  CHECK(tracks.tracks[1].number == 1);
  CHECK(tracks.tracks[1].thread == 7);
  CHECK(tracks.tracks[2].thread == 8);
  CHECK(check_nesting(tracks) == 3);
}

TEST_CASE("a run that is in no thread's stack is not on the thread's own track") {
  const ScopeTracks tracks =
      find_scope_tracks(scopes_of({run(0, 50, 7, kInstanceApart), run(0, 50, 7, kInstanceLeft)}));
  REQUIRE(tracks.tracks.size() == 2);
  CHECK(tracks.tracks[0].events.empty());
  CHECK(check_nesting(tracks) == 2);
}

TEST_CASE("whatever runs there are, slices nest and all are there, or counted") {
  std::mt19937_64 random(19);
  for (int round = 0; round < 200; ++round) {
    std::vector<ScopeInstance> instances;
    for (uint64_t i = random() % 60; i > 0; --i) {
      const uint64_t begin_ns = random() % 40;
      instances.push_back(run(begin_ns, begin_ns + random() % 20, static_cast<uint32_t>(random() % 3),
                              static_cast<uint32_t>(random() % 16)));
    }
    if (!instances.empty()) instances.back().end_ns = 0;  // of a forged profile
    CHECK(check_nesting(find_scope_tracks(scopes_of(instances))) == instances.size());
  }
  std::vector<ScopeInstance> crossing;
  for (uint64_t i = 0; i < kMostScopeTracks + 10; ++i) crossing.push_back(run(i, i + 10'000));
  const ScopeTracks tracks = find_scope_tracks(scopes_of(crossing));
  CHECK(tracks.left_out == 10);
  CHECK(check_nesting(tracks) == kMostScopeTracks);
}
