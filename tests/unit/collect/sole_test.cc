// tests/unit/collect/sole_test.cc: who gets the right to write unstamped, when, and who does not.
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/sole_writer.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;

// A process of two threads, of which the first is written alone after `start`.
struct Session {
  explicit Session(wire::FenceMode fence = wire::FenceMode::kMembarrierExpedited, bool is_fork = false) {
    CollectorOptions options;
    options.clock_mode = wire::ClockMode::kSequence;
    options.fence_mode = fence;
    options.patience_ns = 3'600'000'000'000;
    options.sole_after_ns = 0;
    auto created = ProcessCollector::create(options);
    REQUIRE(created.ok());
    collector = std::move(created).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    wire::Hello hello{};
    hello.flags = wire::kHelloMembarrierRegistered;
    collector->start(hello, {::getpid(), is_fork, "/proc/self/exe"});
    first = std::make_unique<RingBuilder>(agent->claim());
    second = std::make_unique<RingBuilder>(agent->claim());
    first->open(1, now());
    second->open(2, now());
    allocate(*first);
    allocate(*second);
    collector->drain();
    REQUIRE(sole() == 0);  // both have news
  }

  uint64_t now() { return agent->control().sequence.fetch_add(1) + 1; }
  uint64_t sole() { return agent->control().sole.load(); }
  void allocate(RingBuilder& ring) {
    addresses += 16;
    ring.malloc(addresses, 100, {0x10}, now());
  }
  // What the first ring writes alone, and rounds that find it. Returns the word.
  uint64_t after_rounds() {
    for (int i = 0; i < 5; ++i) {
      allocate(*first);
      collector->drain();
    }
    return sole();
  }

  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
  std::unique_ptr<RingBuilder> first;
  std::unique_ptr<RingBuilder> second;
  uint64_t addresses = 0x1000;
};

TEST_CASE("the ring that is written alone gets the right, and loses it to any other's event") {
  Session session;
  const uint64_t given = session.after_rounds();
  CHECK(wire::is_sole_of(given, 0));
  CHECK((given & wire::kSoleOffered) == 0);
  CHECK(session.first->unstamped_events != 0);
  session.allocate(*session.second);
  CHECK(session.sole() == 0);
  session.collector->drain();
  const uint64_t given_again = session.after_rounds();
  CHECK(wire::is_sole_of(given_again, 0));
  CHECK(given_again != given);  // or an event that began under the first would believe that it still holds
  session.collector->drain_to_end();
  CHECK(session.collector->finish().devices.at(0).totals.total_blocks == 13);
}

TEST_CASE("an offer is taken back while another thread is in an event") {
  Session session;
  session.second->begin_event();
  CHECK(session.after_rounds() == 0);
  session.allocate(*session.second);
  session.second->end_event();
  CHECK(session.after_rounds() != 0);
}

TEST_CASE("a process whose second ring came unexpectedly gives the right to nobody") {
  Session session;
  session.agent->control().shares_order.store(1);
  CHECK(session.after_rounds() == 0);
}

TEST_CASE("a ring that threads share never gets the right") {
  Session session;
  session.first->header()->shared.store(1);
  CHECK(session.after_rounds() == 0);
}

TEST_CASE("a ring that nobody can believe keeps the right from all") {
  Session session;
  session.second->put({0, 0});
  session.second->publish();
  CHECK(session.after_rounds() == 0);
}

TEST_CASE("a forked child, and a process that has to fence for itself, stamp every event") {
  SECTION("a forked child") {
    Session session(wire::FenceMode::kMembarrierExpedited, true);
    CHECK(session.after_rounds() == 0);
  }
  SECTION("producers' fences") {
    Session session(wire::FenceMode::kProducerFence);
    CHECK(session.after_rounds() == 0);
  }
}

TEST_CASE("what the target writes into the word harms nobody") {
  Session session;
  session.agent->control().sole.store(GENERATE(wire::kNotSole, uint64_t{1}, wire::pack_sole(77, 4000)));
  const bool is_possible = session.sole() != wire::kNotSole;  // else every ring believes that it has the right
  CHECK((wire::is_sole_of(session.after_rounds(), 0) || !is_possible));
  CHECK(session.collector->finish().devices.at(0).totals.total_blocks == 7);
}

TEST_CASE("a ring that soon loses the right waits for longer") {
  SoleWriter writer(100);
  writer.saw(3, 1000);
  CHECK_FALSE(writer.is_due(1099));
  CHECK(writer.is_due(1100));
  writer.saw(SoleWriter::kSeveral, 1100);
  CHECK_FALSE(writer.is_due(5000));
  writer.saw(3, 5000);
  CHECK(writer.is_due(5100));
  writer.gave(5100);
  writer.lost(5200);
  writer.saw(3, 5200);
  CHECK_FALSE(writer.is_due(5399));
  CHECK(writer.is_due(5400));
  writer.gave(5400);
  SECTION("and not when it had it for a while") {
    writer.lost(10'000);
    writer.saw(4, 10'000);
    CHECK(writer.is_due(10'100));
  }
  SECTION("but not for ever longer") {
    for (int i = 0; i < 100; ++i) writer.lost(5400);
    writer.saw(4, 10'000);
    CHECK(writer.is_due(10'000 + 128 * 100));
  }
}

}  // namespace
}  // namespace heapprof::cli
