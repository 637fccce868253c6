// tests/unit/collect/order_oracle_test.cc: rings that are drained at any moment come out in the order of their stamps,
// so that peak, temporary blocks and each site's maximum are those of the reference books, to the byte.
#include "cli/base/sanitizers.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/second_thread.h"
#include "tests/support/heap_story.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::HeapStory;
using test::RingBuilder;
using test::Stack;
using test::StoryEvent;
using test::StoryKind;
using test::StoryOptions;

// Site n of a story: stacks that share some of their frames.
Stack stack_of_site(uint32_t site) {
  Stack stack{0x100, 0x200 + site % 3};
  for (uint32_t i = 0; i < site % 5; ++i) stack.push_back(0x300 + i);
  stack.push_back(0x1000 + site);
  return stack;
}

void write(RingBuilder& ring, const StoryEvent& event) {
  switch (event.kind) {
    case StoryKind::kMalloc:
      return ring.malloc(event.address, event.size_bytes, stack_of_site(event.site), event.stamp);
    case StoryKind::kFree: return ring.free(event.address, event.stamp);
    case StoryKind::kReallocBegin: return ring.realloc_begin(event.address, event.stamp);
    case StoryKind::kReallocEnd:
      return ring.realloc_end(event.address, event.size_bytes, stack_of_site(event.site), event.stamp);
    case StoryKind::kReallocCancel: return ring.realloc_cancel(event.stamp);
    case StoryKind::kReallocFree: return ring.realloc_free(event.stamp);
  }
}

void compare(const HeapStory& story, const Recording& recording) {
  const DeviceTotals& totals = recording.devices.at(0).totals;
  CHECK(totals.total_bytes == story.books.total_bytes);
  CHECK(totals.total_blocks == story.books.total_blocks);
  CHECK(totals.leaked_bytes == story.books.live_bytes);
  CHECK(totals.leaked_blocks == story.books.live_blocks);
  CHECK(totals.peak_bytes == story.books.peak_bytes);
  CHECK(totals.peak_blocks == story.books.peak_blocks);
  CHECK(totals.max_blocks == story.books.max_blocks);
  CHECK(totals.temporary_blocks == story.books.temporary_blocks);
  CHECK(recording.run.counters.foreign_frees == story.foreign);
  CHECK(recording.run.counters.unseen_frees == 0);
  CHECK(recording.run.counters.reordered == 0);
  CHECK(recording.run.counters.watermark_skips == 0);
  REQUIRE(recording.devices[0].sites.size() == story.books.sites.size());
  for (const RecordedSite& site : recording.devices[0].sites) {
    const uint64_t leaf = recording.locations[recording.stacks[site.stack].location].svma;
    const auto key = static_cast<uint32_t>(leaf - 0x1000);
    const test::ReferenceSite& reference = story.books.sites.at(key);
    const auto peak = story.books.at_peak.find(key);
    REQUIRE(site.numbers.total_bytes == reference.total_bytes);
    REQUIRE(site.numbers.total_blocks == reference.total_blocks);
    REQUIRE(site.numbers.leaked_bytes == reference.live_bytes);
    REQUIRE(site.numbers.leaked_blocks == reference.live_blocks);
    REQUIRE(site.numbers.max_bytes == reference.max_bytes);
    REQUIRE(site.numbers.max_blocks == reference.max_blocks);
    REQUIRE(site.numbers.temporary_blocks == reference.temporary_blocks);
    REQUIRE(site.numbers.peak_bytes == (peak == story.books.at_peak.end() ? 0 : peak->second.bytes));
    REQUIRE(site.numbers.peak_blocks == (peak == story.books.at_peak.end() ? 0 : peak->second.blocks));
  }
  for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
}

TEST_CASE("the order of several rings is that of their stamps") {
  StoryOptions options;
  options.threads = GENERATE(1u, 2u, 5u, 40u);
  options.seed = GENERATE(range(1u, kIsSanitized ? 3u : 6u));
  options.foreign_per_mille = 1;
  const HeapStory story(options);
  std::mt19937 random(options.seed);

  CollectorOptions collector_options;
  collector_options.clock_mode = wire::ClockMode::kSequence;  // the test is the clock
  collector_options.patience_ns = 3'600'000'000'000;
  SecondThread second;
  if (GENERATE(false, true)) {
    collector_options.second = &second;
    collector_options.second_from_bytes = 1;
  }
  auto collector = ProcessCollector::create(collector_options);
  REQUIRE(collector.ok());
  FakeAgent agent((*collector)->arena_fd());
  (*collector)->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  agent.control().sequence.store(options.first_stamp);

  std::map<uint32_t, RingBuilder> rings;  // claimed when a thread is first heard of
  const uint32_t drains_per_mille = GENERATE(2u, 200u);
  for (const StoryEvent& event : story.events) {
    auto at = rings.find(event.thread);
    if (at == rings.end()) {
      at = rings.emplace(event.thread, agent.claim()).first;
      at->second.open(500 + event.thread, event.stamp);
      at->second.header()->thread_id.store(static_cast<uint32_t>(::getpid()));  // a thread that exists
    }
    RingBuilder& ring = at->second;
    if (ring.is_in_event()) ring.end_event();  // of the event before
    ring.begin_event();
    agent.control().sequence.store(event.stamp);
    const auto drain = [&] { (*collector)->drain(random() % 2 == 0 ? RoundKind::kAll : RoundKind::kIfDue); };
    if (random() % 1000 < drains_per_mille) drain();  // between stamp and record
    write(ring, event);
    if (random() % 3 != 0) ring.end_event();  // or later, with other threads' events and drains in between
    if (random() % 1000 < drains_per_mille) drain();
  }
  for (auto& [thread, ring] : rings) {
    if (ring.is_in_event()) ring.end_event();
  }
  (*collector)->drain_to_end();
  compare(story, (*collector)->finish());
}

}  // namespace
}  // namespace heapprof::cli
