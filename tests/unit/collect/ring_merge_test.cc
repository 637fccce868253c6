// tests/unit/collect/ring_merge_test.cc: the heads of all rings in order, and events first in, first out.
#include "cli/collect/rings/ring_merge.h"

#include "cli/collect/rings/event_queue.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <random>

namespace heapprof::cli {
namespace {

TEST_CASE("a merge heap gives all heads in order") {
  std::mt19937_64 random(4);
  std::vector<std::deque<uint64_t>> rings(17);
  std::vector<std::pair<uint64_t, uint32_t>> expected;
  for (uint32_t ring = 0; ring < rings.size(); ++ring) {
    uint64_t stamp = 0;
    for (size_t i = random() % 500; i != 0; --i) {
      stamp += random() % 3;
      rings[ring].push_back(stamp);
      expected.push_back({stamp, ring});
    }
  }
  std::sort(expected.begin(), expected.end());
  MergeHeap heap;
  for (uint32_t ring = 0; ring < rings.size(); ++ring) {
    if (!rings[ring].empty()) heap.push({rings[ring].front(), ring});
  }
  std::vector<std::pair<uint64_t, uint32_t>> merged;
  while (!heap.empty()) {
    const uint32_t ring = heap.top().ring;
    const uint64_t last_stamp = heap.size() == 1 ? UINT64_MAX : heap.last_stamp_of_run();
    REQUIRE(rings[ring].front() <= last_stamp);
    while (!rings[ring].empty() && rings[ring].front() <= last_stamp) {
      merged.push_back({rings[ring].front(), ring});
      rings[ring].pop_front();
    }
    if (rings[ring].empty()) {
      heap.pop();
    } else {
      heap.replace_top({rings[ring].front(), ring});
    }
  }
  CHECK(merged == expected);
}

TEST_CASE("an event queue is first in, first out") {
  std::mt19937_64 random(4);
  EventQueue queue;
  std::deque<uint64_t> reference;
  uint64_t next = 0;
  for (int i = 0; i < 200'000; ++i) {
    if (random() % 100 < (i / 20'000 % 2 == 0 ? 3u : 1u)) {
      std::vector<Event> events(random() % 100);
      for (Event& event : events) {
        event = {};
        event.stamp = next;
        reference.push_back(next++);
      }
      queue.push(events);
    } else if (!reference.empty()) {
      REQUIRE(queue.front().stamp == reference.front());
      const Event* ahead = queue.ahead(8);
      REQUIRE((ahead != nullptr) == (reference.size() > 8));
      if (ahead != nullptr) REQUIRE(ahead->stamp == reference[8]);
      const uint64_t bound = reference.front() + random() % 12;
      const size_t most = 1 + random() % 12;
      const std::span<const Event> run = queue.run_up_to(bound, most);
      REQUIRE(run.size() == std::min({most, reference.size(), static_cast<size_t>(bound - reference.front() + 1)}));
      REQUIRE(run.front().stamp == reference.front());
      queue.pop();
      reference.pop_front();
    }
    REQUIRE(queue.size() == reference.size());
    REQUIRE(queue.empty() == reference.empty());
  }
}

}  // namespace
}  // namespace heapprof::cli
