// tests/unit/collect/rounds_test.cc: what a round of the collector does, and what it leaves for a later one.
#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;

// A collector of this very process, and an agent that is only played.
struct Session {
  explicit Session(wire::ClockMode clock) {
    CollectorOptions options;
    options.clock_mode = clock;
    options.fence_mode = wire::FenceMode::kProducerFence;
    options.patience_ns = 3'600'000'000'000;
    auto created = ProcessCollector::create(options);
    REQUIRE(created.ok());
    collector = std::move(created).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    collector->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  }

  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
};

// A fence of the writers' kind counts in Control::heartbeat, as each round does.
TEST_CASE("a process whose rings stand still is asked for no fence, and one that goes on is at once") {
  Session session(wire::ClockMode::kTsc);
  ProcessCollector& collector = *session.collector;
  FakeAgent& agent = *session.agent;
  const auto fences_of = [&](int rounds) {
    const uint64_t before = agent.control().heartbeat.load();
    for (int i = 0; i < rounds; ++i) collector.drain();
    return agent.control().heartbeat.load() - before - static_cast<uint64_t>(rounds);
  };
  CHECK(fences_of(10) == 0);  // no ring at all
  RingBuilder first = agent.claim();
  RingBuilder second = agent.claim();
  const auto now = [] { return __builtin_ia32_rdtsc(); };
  first.open(1, now());
  second.open(2, now());
  first.malloc(0x1000, 100, {0x10}, now());
  second.malloc(0x2000, 100, {0x10}, now());
  CHECK(fences_of(1) == 1);
  CHECK(fences_of(100) == 0);
  first.free(0x1000, now());
  CHECK(fences_of(1) == 1);
  CHECK(fences_of(100) == 0);
  second.begin_event();
  const uint64_t late = now();
  first.malloc(0x1000, 100, {0x20}, now());
  CHECK(fences_of(10) == 10);  // what waits for the second one's event is looked for each time
  second.free(0x2000, late);
  second.end_event();
  CHECK(fences_of(100) == 1);
  agent.claim().open(3, now());
  CHECK(fences_of(100) == 1);
  collector.drain_to_end();
  const Recording recording = collector.finish();
  CHECK(recording.devices[0].totals.total_blocks == 3);
  CHECK(recording.devices[0].totals.leaked_blocks == 1);
  CHECK(recording.devices[0].totals.peak_bytes == 200);
  CHECK(recording.run.counters.watermark_skips == 0);
}

TEST_CASE("a round that comes soon after another, and finds little, is put off; none that is asked for all is") {
  Session session(wire::ClockMode::kSequence);
  RingBuilder first = session.agent->claim();
  RingBuilder second = session.agent->claim();
  first.open(1, 1);
  second.open(2, 1);
  session.agent->control().sequence.store(1000);
  REQUIRE(session.collector->drain() == 0);
  first.malloc(0x1000, 100, {0x10}, 2);
  size_t taken = session.collector->drain(RoundKind::kIfDue);  // on a busy machine a millisecond may have passed
  taken += session.collector->drain(RoundKind::kAll);
  CHECK(taken == 1);
  CHECK(session.collector->drain(RoundKind::kIfDue) == 0);
  second.malloc(0x2000, 100, {0x10}, 3);
  ::usleep(1100);
  CHECK(session.collector->drain(RoundKind::kIfDue) == 1);
}

}  // namespace
}  // namespace heapprof::cli
