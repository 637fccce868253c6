// tests/unit/collect/hostile_test.cc: what no agent writes: the collector stays alive, stops believing that ring, says
// so, and keeps its own books in order.
#include "cli/collect/process_collector.h"
#include "tests/support/heap_story.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;
using wire::RecordType;

struct Victim {
  explicit Victim(wire::ClockMode clock = wire::ClockMode::kSequence) {
    CollectorOptions options;
    options.clock_mode = clock;
    collector = std::move(ProcessCollector::create(options)).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    collector->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  }
  Recording finish() {
    collector->drain_to_end();
    Recording recording = collector->finish();
    for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
    return recording;
  }
  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
};

constexpr uint64_t tag(RecordType type) { return static_cast<uint64_t>(type) << 60; }

TEST_CASE("a record that no agent writes stops its ring, and only that") {
  Victim victim;
  RingBuilder ring = victim.agent->claim();
  RingBuilder other = victim.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1, 2, 3}, 1);
  SECTION("an unknown type") { ring.put({tag(static_cast<RecordType>(13)), 0}); }
  SECTION("type 0, as of a ring that was never written") { ring.put({0, 0}); }
  SECTION("an unknown control record") { ring.put({tag(RecordType::kControl) | 200, 0}); }
  SECTION("a chunk that the ring does not have") {
    ring.put(wire::pack_control(wire::ControlKind::kChunk, wire::kLargeRingBytes));
  }
  SECTION("a chunk that begins anywhere") { ring.put(wire::pack_control(wire::ControlKind::kChunk, 16)); }
  SECTION("keep beyond the stack") {
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x2000, 5), wire::pack_w1(0, 4, 0)});
  }
  SECTION("more frames than a record may have") {
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x2000, 5), wire::pack_w1(0, 0, wire::kMaxFreshFrames + 1)});
  }
  SECTION("frames beyond the head") {
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x2000, 5), wire::pack_w1(0, 0, 4)});
  }
  SECTION("no address") { ring.put({wire::pack_w0(RecordType::kFree, 0, 0), 0}); }
  SECTION("an address of 0 by prefix") {
    ring.put({tag(RecordType::kPrefixAddress), 0});
    ring.put({wire::pack_w0(RecordType::kFree, 0, 0), 0});
  }
  SECTION("a device's object without a device") {
    ring.put({tag(RecordType::kPrefixObject), 5});
    ring.put({wire::pack_w0(RecordType::kFree, 0x1000, 0), 0});
  }
  SECTION("an operation that no device has") {
    ring.put({tag(RecordType::kPrefixDevice), 200});
    ring.put({wire::pack_w0(RecordType::kFree, 0x1000, 0), 0});
  }
  SECTION("device memory that begins with a record of its end") {
    ring.device_next(wire::DeviceOperation::kAllocate, wire::kFirstCudaDevice);
    ring.put({wire::pack_w0(RecordType::kFree, 0x1000, 0), 0});
  }
  SECTION("device memory of the host") {
    ring.device_next(wire::DeviceOperation::kAllocate, 0);
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x1000, 5), wire::pack_w1(0, 3, 0)});
  }
  SECTION("a holding of no kind") {
    ring.device_next(wire::DeviceOperation::kHold, wire::kFirstCudaDevice, uint64_t{3} << 62 | 5);
    ring.put({wire::pack_w0(RecordType::kFree, 0x1000, 0), 0});
  }
  SECTION("a holding of no amount") {
    ring.device_next(wire::DeviceOperation::kHold, wire::kFirstCudaDevice, uint64_t{1} << 61);
    ring.put({wire::pack_w0(RecordType::kFree, 0x1000, 0), 0});
  }
  SECTION("pages on a device that has none") {
    ring.device_next(wire::DeviceOperation::kMapRange, wire::kPinnedDevice);
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x1000, 5), wire::pack_w1(0, 3, 0)});
  }
  SECTION("pages that end beyond all addresses") {
    ring.device_next(wire::DeviceOperation::kUnmapRange, 0, UINT64_MAX - 0x1000);
    ring.put({wire::pack_w0(RecordType::kFree, 0x2000, 0), 0});
  }
  SECTION("pages that begin beyond all addresses") {
    ring.device_next(wire::DeviceOperation::kMapRange, wire::kMappedDevice);
    ring.put({tag(RecordType::kPrefixAddress), UINT64_MAX - 7});
    ring.put({wire::pack_w0(RecordType::kMalloc, 0, 5), wire::pack_w1(0, 3, 0)});
  }
  SECTION("a protection that is no device of pages") {
    ring.device_next(wire::DeviceOperation::kProtectRange, wire::kMappedFileDevice);
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x1000, 5), wire::pack_w1(0, 3, 0)});
  }
  SECTION("realloc of device memory") {
    ring.device_next(wire::DeviceOperation::kRelease, wire::kFirstCudaDevice);
    ring.put({wire::pack_w0(RecordType::kReallocBegin, 0x1000, 0), 0});
  }
  SECTION("two addresses") {
    ring.put({tag(RecordType::kPrefixAddress), 0x3003});
    ring.put({wire::pack_w0(RecordType::kFree, 0x2000, 0), 0});
  }
  SECTION("two prefixes of a kind") {
    ring.put({tag(RecordType::kPrefixSize), 100'000});
    ring.put({tag(RecordType::kPrefixSize), 100'000});
  }
  SECTION("a size that should be in a prefix") {
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x2000, wire::kSizeInPrefix), wire::pack_w1(0, 0, 0)});
  }
  SECTION("a prefix for a size that is there") {
    ring.put({tag(RecordType::kPrefixSize), 100'000});
    ring.put({wire::pack_w0(RecordType::kMalloc, 0x2000, 7), wire::pack_w1(0, 0, 0)});
  }
  ring.publish();
  victim.collector->drain();
  ring.malloc(0x4000, 1000, {1, 2, 3}, 1);  // not believed any more, but its space is given back
  other.open(2, 1);
  other.malloc(0x5000, 20, {1, 2, 3}, 1);
  const Recording recording = victim.finish();
  CHECK(ring.header()->tail.load() == ring.head());
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK_FALSE(recording.run.complete);
  CHECK(recording.run.incomplete_reason == "a ring held a record that no agent writes");
  CHECK(recording.devices[0].totals.total_bytes == 30);
}

TEST_CASE("a head that cannot be stops its ring") {
  Victim victim;
  RingBuilder ring = victim.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1, 2, 3}, 1);
  victim.collector->drain();
  SECTION("backwards") { ring.publish_as(16); }
  SECTION("further than the ring is long") { ring.publish_as(ring.head() + wire::kLargeRingBytes + 16); }
  SECTION("half a unit") { ring.publish_as(ring.head() + 8); }
  SECTION("at the end of all numbers") { ring.publish_as(UINT64_MAX); }
  victim.collector->drain();
  const Recording recording = victim.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.devices[0].totals.total_bytes == 10);
}

TEST_CASE("more rings than there are, and stamps of another age") {
  const wire::ClockMode clock = GENERATE(wire::ClockMode::kSequence, wire::ClockMode::kTsc);
  Victim victim(clock);
  RingBuilder ring = victim.agent->claim();
  RingBuilder other = victim.agent->claim();
  victim.agent->control().rings_claimed.store(UINT32_MAX);
  ring.open(1, UINT64_MAX - 5);
  ring.malloc(0x1000, 10, {1}, UINT64_MAX - 5);
  other.open(2, 0);
  other.free(0x1000, 1);
  ring.malloc(0x1000, 10, {1}, UINT64_MAX);
  victim.collector->drain();
  victim.agent->control().sequence.store(UINT64_MAX);
  victim.collector->drain();
  other.malloc(0x2000, 30, {1}, 0);
  const Recording recording = victim.finish();
  CHECK(recording.devices[0].totals.total_bytes == 50);
  CHECK(recording.devices[0].timeline.buckets.size() <= 4096);
}

TEST_CASE("sizes that no memory has do not upset the sums") {
  Victim victim;
  RingBuilder ring = victim.agent->claim();
  ring.open(1, 1);
  for (uint64_t i = 1; i < 20; ++i) ring.malloc(0x1000 * i, UINT64_MAX - i, {i % 3}, 1);
  for (uint64_t i = 1; i < 20; i += 2) ring.free(0x1000 * i, 1);
  victim.finish();
}

TEST_CASE("random bytes as records") {
  const uint32_t seed = GENERATE(range(1u, 60u));
  std::mt19937_64 random(seed);
  Victim victim(seed % 2 == 0 ? wire::ClockMode::kSequence : wire::ClockMode::kTsc);
  RingBuilder ring = victim.agent->claim();
  RingBuilder other = victim.agent->claim();
  for (int i = 0; i < 2000; ++i) {
    (random() % 2 == 0 ? ring : other).put({random(), random()});
    if (i % 100 == 0) {
      ring.publish();
      other.publish();
      victim.collector->drain();
    }
  }
  ring.publish();
  other.publish();
  CHECK_FALSE(victim.finish().run.complete);
}

TEST_CASE("bits that flip in valid rings") {
  const uint32_t seed = GENERATE(range(1u, 80u));
  std::mt19937_64 random(seed);
  Victim victim;
  test::StoryOptions options;
  options.threads = 3;
  options.events = 3000;
  options.seed = seed;
  const test::HeapStory story(options);
  std::vector<RingBuilder> rings;
  for (uint32_t i = 0; i < 3; ++i) {
    rings.push_back(victim.agent->claim());
    rings[i].open(i, 1);
  }
  for (const test::StoryEvent& event : story.events) {
    RingBuilder& ring = rings[event.thread];
    ring.begin_event();
    const test::Stack stack{1, 2 + event.site % 5, 10 + event.site};
    switch (event.kind) {
      case test::StoryKind::kMalloc: ring.malloc(event.address, event.size_bytes, stack, event.stamp); break;
      case test::StoryKind::kFree: ring.free(event.address, event.stamp); break;
      case test::StoryKind::kReallocBegin: ring.realloc_begin(event.address, event.stamp); break;
      case test::StoryKind::kReallocEnd: ring.realloc_end(event.address, event.size_bytes, stack, event.stamp); break;
      case test::StoryKind::kReallocCancel: ring.realloc_cancel(event.stamp); break;
      case test::StoryKind::kReallocFree: ring.realloc_free(event.stamp); break;
    }
    if (random() % 500 == 0) {
      uint64_t& word = victim.agent->words(event.thread)[(ring.head() - 16) % wire::kLargeRingBytes / 8];
      word ^= 1ull << (random() % 64);
    }
    ring.end_event();
    if (random() % 50 == 0) victim.collector->drain();
  }
  victim.finish();
}

TEST_CASE("a ring that names ever new threads stays small") {
  Victim victim;
  RingBuilder ring = victim.agent->claim();
  ring.header()->shared.store(GENERATE(0u, 1u));
  ring.when_full = [&] { victim.collector->drain(); };
  ring.open(1, 1);
  for (uint32_t i = 0; i < 300'000; ++i) {
    ring.thread(i);
    if (i % 3 == 0) ring.malloc(0x1000 + i * 16, 1, {1}, 1);
  }
  const Recording recording = victim.finish();
  CHECK(recording.devices[0].totals.total_blocks == 100'000);
  CHECK(recording.run.threads.size() == 1000);
}

}  // namespace
}  // namespace heapprof::cli
