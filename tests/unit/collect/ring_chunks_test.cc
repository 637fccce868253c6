// tests/unit/collect/ring_chunks_test.cc: the parts of a ring, and who has them, with an agent that is only played.
#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;

// Gives back what was not used since the last round.
struct Session {
  Session() {
    CollectorOptions options;
    options.trim_interval_ns = 0;
    options.clock_mode = wire::ClockMode::kSequence;
    auto created = ProcessCollector::create(options);
    REQUIRE(created.ok());
    collector = std::move(created).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    collector->start({}, {::getpid(), false, "/proc/self/exe"});
  }
  Recording finish() {
    collector->drain_to_end();
    return collector->finish();
  }

  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
};

TEST_CASE("a chunk that is read is its producer's no more, and one that is not used gives its memory back") {
  Session session;
  RingBuilder ring = session.agent->claim();
  wire::RingHeader& header = *ring.header();
  uint64_t* words = session.agent->words(0);
  constexpr uint64_t kChunkWords = wire::kChunkBytes / sizeof(uint64_t);
  header.chunks = 1;
  header.resident = 1 | 1 << 9;  // in chunk 9 nothing is written
  session.agent->control().resident_chunks = 3;
  words[9 * kChunkWords] = words[10 * kChunkWords - 1] = words[10 * kChunkWords] = words[9 * kChunkWords - 1] = 99;
  ring.open(1, 1);
  session.collector->drain();  // now the ring is known
  ring.malloc(0x1000, 10, {1, 2, 3}, 1);
  ring.go_to_chunk(31);
  ring.malloc(0x2000, 20, {1, 2, 4}, 2);
  CHECK(header.chunks == (1 | uint64_t{1} << 31));
  session.collector->drain();  // gives back before it reads
  CHECK(header.chunks == uint64_t{1} << 31);
  CHECK(words[9 * kChunkWords] == 0);
  CHECK(words[10 * kChunkWords - 1] == 0);
  CHECK(words[9 * kChunkWords - 1] == 99);
  CHECK(words[10 * kChunkWords] == 99);
  CHECK(header.resident == (1 | uint32_t{1} << 31));
  CHECK(session.agent->control().resident_chunks == 2);
  CHECK(words[0] != 0);

  session.collector->drain();  // chunk 0 was in use since the last time
  CHECK(words[0] != 0);
  session.collector->drain();
  CHECK(words[0] == 0);
  CHECK(header.resident == uint32_t{1} << 31);
  CHECK(words[31 * kChunkWords] != 0);  // read, but the producer's
  ring.go_to_chunk(0);
  ring.malloc(0x3000, 30, {1, 2, 3}, 3);
  session.collector->drain();
  CHECK(header.chunks == 1);
  ring.free(0x3000, 4);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 0);
  CHECK(recording.devices[0].totals.total_bytes == 60);
  CHECK(recording.devices[0].totals.leaked_bytes == 30);
}

TEST_CASE("what an owner says of its chunks is nobody else's harm") {
  Session session;
  RingBuilder ring = session.agent->claim();
  RingBuilder other = session.agent->claim();
  other.header()->chunks = 1;
  ring.open(1, 1);
  other.open(2, 1);
  std::atomic<bool> ends{false};
  std::thread owner([&] {
    uint64_t state = 1;
    while (!ends) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      ring.header()->chunks = state;
      ring.header()->resident = static_cast<uint32_t>(state >> 32);
      session.agent->control().resident_chunks = static_cast<uint32_t>(state >> 16);
    }
  });
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    ring.put({i * uint64_t{0x123456789abcdef}, i});
    ring.publish();
    other.go_to_chunk((i + 1) % 32);
    for (int block = 0; block < 3; ++block) other.malloc(0x1000 + 16 * blocks++, 1, {1, 2}, 1);
    session.collector->drain();
  }
  ends = true;
  owner.join();
  CHECK(other.header()->chunks == uint64_t{1} << 2000 % 32);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.devices[0].totals.total_bytes == blocks);
}

}  // namespace
}  // namespace heapprof::cli
