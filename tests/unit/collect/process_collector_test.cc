// tests/unit/collect/process_collector_test.cc: a collector from its first ring to its recording, with an agent that is
// only played by this process.
#include "cli/collect/process_collector.h"

#include "cli/collect/rings/second_thread.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <map>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;
using test::Stack;

// A collector of this very process, and an agent that is only played.
struct Session {
  explicit Session(wire::ClockMode clock = wire::ClockMode::kSequence, bool is_fork = false,
                   SecondThread* second = nullptr) {
    CollectorOptions options;
    options.second = second;
    options.second_from_bytes = 1;
    options.clock_mode = clock;
    options.patience_ns = 3'600'000'000'000;
    auto created = ProcessCollector::create(options);
    REQUIRE(created.ok());
    collector = std::move(created).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    wire::Hello hello{};
    collector->start(hello, {::getpid(), is_fork, "/proc/self/exe"});
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

// Addresses of a recorded stack, outermost first.
Stack stack_of(const Recording& recording, uint32_t node) {
  Stack stack;
  for (; node != 0; node = recording.stacks[node].parent) {
    stack.insert(stack.begin(), recording.locations[recording.stacks[node].location].svma);
  }
  return stack;
}

TEST_CASE("what a second thread has still to take up is counted when nothing follows") {
  constexpr uint64_t kBlocks = 20'000;  // more than are decoded at a time, each with a stack of its own
  const bool is_snapshot = GENERATE(false, true);
  const uint32_t rings = GENERATE(1u, 2u);
  SecondThread second;
  Session session(wire::ClockMode::kSequence, false, &second);
  std::vector<RingBuilder> written;
  for (uint32_t i = 0; i < rings; ++i) {
    written.push_back(session.agent->claim());
    written.back().open(77 + i, 1);
  }
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const uint32_t ring = i < kBlocks / 4 ? 0 : rings - 1;  // the second is heard of late
    session.agent->control().sequence.store(i + 2);
    written[ring].malloc(0x10000 + i * 16, i % 7, {0x10, 0x1000 + i}, i + 1);
    if (i == kBlocks / 8 || i == kBlocks * 7 / 8) session.collector->drain();
  }
  session.collector->drain();
  Recording recording;
  if (is_snapshot) {
    recording =
        session.collector->finish_copy();  // what was published, but for what a silent ring may still come before
    CHECK(recording.devices[0].totals.total_blocks >= kBlocks * 7 / 8);
    for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
  } else {
    CHECK(session.collector->drain() == 0);
    recording = session.finish();
    CHECK(recording.devices[0].totals.total_blocks == kBlocks);
    CHECK(recording.devices[0].sites.size() == kBlocks);
  }
}

TEST_CASE("what one thread did is recorded with its stacks") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 1235, {0x10, 0x20, 0x30}, 1);
  ring.malloc(0x2000, 1236, {0x10, 0x20, 0x31}, 1);
  ring.malloc(0x3000, 100'000, {0x10, 0x20, 0x31}, 1);  // a size that needs a prefix
  ring.free(0x1000, 1);
  CHECK(session.collector->drain() == 4);
  CHECK(session.collector->drain() == 0);
  ring.malloc(0x4003, 8, {}, 1);  // an address that needs one, and no stack
  const Recording recording = session.finish();

  REQUIRE(recording.devices.size() == 1);
  const RecordedDevice& host = recording.devices[0];
  CHECK(host.totals.total_bytes == 1235 + 1236 + 100'000 + 8);
  CHECK(host.totals.peak_bytes == 1235 + 1236 + 100'000);
  CHECK(host.totals.leaked_blocks == 3);
  std::map<Stack, SiteNumbers> sites;
  for (const RecordedSite& site : host.sites) sites[stack_of(recording, site.stack)] = site.numbers;
  REQUIRE(sites.size() == 3);
  CHECK(sites.at({0x10, 0x20, 0x30}).total_bytes == 1235);
  CHECK(sites.at({0x10, 0x20, 0x30}).leaked_bytes == 0);
  CHECK(sites.at({0x10, 0x20, 0x31}).leaked_bytes == 101'236);
  CHECK(sites.at({}).leaked_bytes == 8);
  CHECK(recording.run.complete);
  CHECK(recording.run.counters.allocations == 4);
  CHECK(recording.run.counters.frees == 1);
  REQUIRE(recording.run.threads.size() == 1);
  CHECK(recording.run.threads[0].id == 77);
  CHECK(recording.run.threads[0].allocations == 4);
  CHECK(recording.run.threads[0].frees == 1);
}

TEST_CASE("a stack of thousands of frames comes in parts") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  Stack deep(20'000);
  for (size_t i = 0; i < deep.size(); ++i) deep[i] = 0x1000 + i;  // all different: nothing is folded
  ring.malloc(0x1000, 10, deep, 1);
  Stack other = deep;
  other[3] = 7;
  ring.malloc(0x2000, 10, other, 1);
  other.resize(40);
  ring.malloc(0x3000, 10, other, 1);
  const Recording recording = session.finish();
  REQUIRE(recording.devices[0].sites.size() == 3);
  CHECK(stack_of(recording, recording.devices[0].sites[0].stack) == deep);
  CHECK(stack_of(recording, recording.devices[0].sites[1].stack).size() == deep.size());
  CHECK(stack_of(recording, recording.devices[0].sites[2].stack) == other);
}

TEST_CASE("a truncated stack is a site of its own, and counted") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1, 2}, 1);
  ring.truncate_next(wire::TruncationCause::kNoUnwindInfo);
  ring.malloc(0x2000, 20, {1, 2}, 1);
  const Recording recording = session.finish();
  REQUIRE(recording.devices[0].sites.size() == 2);
  CHECK(recording.run.counters.truncated_stacks == 1);
  for (const RecordedSite& site : recording.devices[0].sites)
    CHECK(site.numbers.total_bytes == (site.truncated ? 20 : 10));
}

TEST_CASE("records wrap around the ring, and a full ring is emptied") {
  Session session;
  RingBuilder ring = session.agent->claim();
  uint64_t waits = 0;
  ring.when_full = [&] {
    ++waits;
    session.collector->drain();
  };
  ring.open(1, 1);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    ring.malloc(0x10000 + i * 16, i, {0x10, 0x100 + i % 7, 0x200 + i % 11}, 1);
    bytes += i;
  }
  const Recording recording = session.finish();
  CHECK(waits > 3);
  CHECK(recording.devices[0].totals.total_bytes == bytes);
  CHECK(recording.devices[0].sites.size() == 77);
}

// Killed while the collector stood still: more events than the collector lets wait at once.
TEST_CASE("full rings of many threads are brought into order at the end") {
  Session session;
  session.agent->control().sequence = 4'000'000;
  std::vector<RingBuilder> rings;
  for (uint32_t i = 0; i < 34; ++i) {
    rings.push_back(session.agent->claim());
    rings[i].open(i + 1, 1);
  }
  const auto fill = [&rings](uint32_t i, uint64_t bytes) {
    while (rings[i].head() < bytes) {
      rings[i].malloc(0x1000 + i * 16, 10, {1}, 1);
      rings[i].free(0x1000 + i * 16, 1);
    }
  };
  for (uint32_t i = 0; i < 33; ++i) fill(i, wire::ring_bytes(i) - 1024);
  rings[33].malloc(0xaaa0, 20, {1}, 1);
  fill(33, wire::ring_bytes(33) - 1024);
  rings[33].free(0xaaa0, 1'000'000);  // far behind what is decoded at first
  rings[0].malloc(0xaaa0, 30, {1}, 2'000'000);
  rings[0].malloc(0xbbb0, 40, {1}, 3'000'000);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.unseen_frees == 0);
  CHECK(recording.run.counters.foreign_frees == 0);
  CHECK(recording.run.counters.reordered == 0);
  CHECK(recording.devices[0].totals.leaked_bytes == 70);
}

TEST_CASE("space is given back, and a producer that waits for it is woken") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1, 2}, 1);
  ring.header()->waiting.store(1);
  const uint32_t sequence = ring.header()->wake_sequence.load();
  session.collector->drain();
  CHECK(ring.header()->tail.load() == ring.head());
  CHECK(ring.header()->wake_sequence.load() != sequence);
}

TEST_CASE("modules: one location per object and address in its file") {
  Session session;
  session.agent->add_module({"", "", 0x400000, 0x500000, 0x400000, 0});
  session.agent->add_module({"/lib/one.so", "\x01\xab", 0x7f0000000000, 0x7f0000100000, 0x7f0000000000, 0});
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 1, {0x400100, 0x7f0000000200}, 1);
  session.collector->drain();
  // Unloaded; another object takes its place, and it comes back elsewhere.
  session.agent->add_module({"/lib/two.so", "\x02", 0x7f0000000000, 0x7f0000100000, 0x7f0000000000, 1});
  session.agent->add_module({"/lib/one.so", "\x01\xab", 0x7f0000800000, 0x7f0000900000, 0x7f0000800000, 1});
  ring.malloc(0x2000, 2, {0x400100, 0x7f0000000201}, 1);  // still in generation 0
  ring.generation(1);
  ring.malloc(0x3000, 4, {0x400100, 0x7f0000000200}, 1);
  ring.malloc(0x4000, 8, {0x400100, 0x7f0000800200}, 1);
  ring.malloc(0x5000, 16, {0x400100, 0x999}, 1);  // nowhere
  const Recording recording = session.finish();

  std::map<std::string, uint64_t> bytes;
  for (const RecordedSite& site : recording.devices[0].sites) {
    const Location& leaf = recording.locations[recording.stacks[site.stack].location];
    const std::string name = leaf.module == kNoModule ? "none" : recording.modules[leaf.module].path;
    bytes[name + "+" + std::to_string(leaf.svma)] += site.numbers.total_bytes;
  }
  CHECK(bytes.at("/lib/one.so+512") == 1 + 8);
  CHECK(bytes.at("/lib/one.so+513") == 2);
  CHECK(bytes.at("/lib/two.so+512") == 4);
  CHECK(bytes.at("none+2457") == 16);
  CHECK(recording.devices[0].sites.size() == 4);
  REQUIRE(recording.modules.size() == 3);
  CHECK(recording.modules[1].build_id == "01ab");
  CHECK(recording.modules[1].load_bias == 0x7f0000800000);
  CHECK(recording.modules[0].path == "/proc/self/exe");
  REQUIRE(recording.modules[0].file != nullptr);  // the main program is this test
}

TEST_CASE("what was lost makes a profile incomplete") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1, 2, 3}, 1);
  ring.header()->events_lost.store(4);
  session.agent->control().events_lost.store(1);
  ring.reset(4);
  ring.malloc(0x2000, 10, {1, 2, 3}, 1);  // whole: nothing is kept
  const Recording recording = session.finish();
  CHECK(recording.run.counters.lost == 5);
  CHECK_FALSE(recording.run.complete);
  CHECK_FALSE(recording.run.incomplete_reason.empty());
  CHECK(recording.devices[0].sites.size() == 1);
}

TEST_CASE("a forked child's frees of its parent's blocks are inherited") {
  Session session(wire::ClockMode::kSequence, true);
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.free(0x5550, 1);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.inherited_frees == 1);
  CHECK(recording.run.counters.foreign_frees == 0);
}

TEST_CASE("a ring is used by one thread after the other") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1}, 1);
  for (uint32_t id = 2; id < 5000; ++id) {
    ring.open(id, 1);
    ring.malloc(0x10000 + id * 16, id, {1}, 1);
    session.collector->drain();
  }
  const Recording recording = session.finish();
  CHECK(recording.run.threads.size() == 1000);
  CHECK(recording.run.threads[0].id == 4999);
  CHECK(recording.run.threads[999].id == 4000);
  CHECK(recording.run.other_threads_count == 3999);
  uint64_t sum = 0;
  for (const Thread& thread : recording.run.threads) sum += thread.total_bytes;
  CHECK(sum + recording.run.other_threads.total_bytes == recording.devices[0].totals.total_bytes);
}

TEST_CASE("threads that share a ring have their own reallocs") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.header()->shared.store(1);
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1}, 1);
  ring.malloc(0x2000, 20, {1}, 1);
  ring.realloc_begin(0x1000, 2);
  ring.thread(2);
  ring.realloc_begin(0x2000, 3);
  ring.thread(1);
  ring.realloc_end(0x3000, 100, {1}, 4);
  ring.thread(2);
  ring.realloc_cancel(5);
  ring.free(0x2000, 6);
  const Recording recording = session.finish();
  CHECK(recording.devices[0].totals.leaked_bytes == 100);
  CHECK(recording.run.counters.foreign_frees == 0);
  CHECK(recording.run.counters.failed_reallocs == 1);
}

TEST_CASE("times are nanoseconds since the start") {
  Session session(wire::ClockMode::kTsc);
  RingBuilder ring = session.agent->claim();
  timespec nap{0, 20'000'000};
  ring.open(1, __builtin_ia32_rdtsc());
  ::nanosleep(&nap, nullptr);
  ring.malloc(0x1000, 10, {1}, __builtin_ia32_rdtsc());
  ::nanosleep(&nap, nullptr);
  ring.free(0x1000, __builtin_ia32_rdtsc());
  ring.malloc(0x2000, 5, {2}, __builtin_ia32_rdtsc());
  const Recording recording = session.finish();
  const RecordedDevice& host = recording.devices[0];
  CHECK(host.totals.peak_ns >= 20'000'000);
  CHECK(host.totals.peak_ns < 10'000'000'000);
  CHECK(host.sites[0].numbers.lifetime_ns >= 20'000'000);
  CHECK(host.sites[1].numbers.first_leak_ns >= 40'000'000);
  CHECK(host.sites[1].numbers.first_leak_ns <= recording.run.duration_ns);
  CHECK(host.timeline.buckets.size() * host.timeline.bucket_ns >= recording.run.duration_ns - host.timeline.bucket_ns);
  CHECK(host.totals.resident_max_bytes == 0);  // drain() was never called
}

TEST_CASE("an unstamped record is not older than the round that did not see it") {
  Session session(wire::ClockMode::kTsc);
  RingBuilder ring = session.agent->claim();
  const uint64_t stamp = __builtin_ia32_rdtsc();
  ring.open(1, stamp);
  timespec nap{0, 30'000'000};
  ::nanosleep(&nap, nullptr);
  session.collector->drain();
  ring.malloc(0x1000, 10, {1}, stamp);
  const Recording recording = session.finish();
  CHECK(recording.devices[0].totals.peak_ns >= 30'000'000);
  CHECK(recording.devices[0].totals.resident_max_bytes > 0);
}

TEST_CASE("a collector that detaches says so") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.malloc(0x1000, 10, {1}, 1);
  session.collector->drain();
  session.collector->detach();
  CHECK(session.agent->control().detach.load() == wire::Detach::kSession);
  ring.malloc(0x2000, 10, {1}, 1);
  session.agent->control().stop_reason.store(static_cast<uint32_t>(wire::StopReason::kDetached));
  const Recording recording = session.finish();
  CHECK(recording.devices[0].totals.total_blocks == 2);
  CHECK_FALSE(recording.run.complete);
  CHECK(recording.run.incomplete_reason == "the collector detached");
}

TEST_CASE("a process that recorded nothing has an empty recording") {
  Session session;
  const Recording recording = session.finish();
  CHECK(recording.devices.at(0).sites.empty());
  CHECK(recording.run.complete);
}

}  // namespace
}  // namespace heapprof::cli
