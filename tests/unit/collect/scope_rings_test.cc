// tests/unit/collect/scope_rings_test.cc: scopes as an agent writes them into its rings and its table of names, and as
// no agent would: the collector stays alive, stops believing that ring, and keeps its books in order.
#include "tests/support/ring_session.h"

#include <catch2/catch.hpp>

#include <random>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using Operation = wire::ScopeOperation;

struct Session : test::RingSession {
  explicit Session(wire::ClockMode clock = wire::ClockMode::kSequence) : RingSession(clock) {
    agent->set_name(1, "", "outer");
    agent->set_name(4096, "io", "inner");
  }
};

}  // namespace

TEST_CASE("a ring's scopes are in the recording, with their names, times, items and launches") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.control(wire::ControlKind::kLaunches, 5);  // before the first scope: in none
  ring.control(wire::ControlKind::kScopeTime, 1000);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  ring.control(wire::ControlKind::kLaunches, 8);
  ring.control(wire::ControlKind::kScopeTime, 1100);
  ring.scope(Operation::kBegin, 4096, 12, 2);
  ring.malloc(0x2000, 30, {0x10}, 2);
  ring.free(0x1000, 2);
  ring.scope_items(12, 44);
  ring.control(wire::ControlKind::kLaunches, 10);
  ring.control(wire::ControlKind::kScopeTime, 1400);
  ring.scope(Operation::kEnd, 0, 12, 3);
  ring.control(wire::ControlKind::kScopeTime, 1500);
  ring.scope(Operation::kMark, 4096, 0, 3);
  ring.control(wire::ControlKind::kScopeTime, 2000);
  ring.scope(Operation::kEnd, 0, 11, 4);
  ring.malloc(0x3000, 7, {0x10}, 4);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  const std::vector<Scope>& scopes = recording.scopes.scopes;
  REQUIRE(scopes.size() == 2);
  CHECK(scopes[0].name == "outer");
  CHECK(scopes[0].category.empty());
  CHECK(scopes[0].time_ns == 1000);
  CHECK(scopes[0].own_time_ns == 700);
  CHECK(scopes[0].kernel_launches == 3);
  REQUIRE(scopes[0].memory.size() == 1);
  CHECK(scopes[0].memory[0].device == "host");
  CHECK(scopes[0].memory[0].allocated_bytes == 100);
  CHECK(scopes[0].memory[0].freed_bytes == 0);
  CHECK(scopes[0].memory[0].peak_inside_bytes == 130);
  CHECK(scopes[1].parent == 1);
  CHECK(scopes[1].name == "inner");
  CHECK(scopes[1].category == "io");
  CHECK(scopes[1].time_ns == 300);
  CHECK(scopes[1].shortest_ns == 300);
  CHECK(scopes[1].longest_ns == 300);
  CHECK(scopes[1].items == 44);
  CHECK(scopes[1].kernel_launches == 2);
  CHECK(scopes[1].memory[0].allocated_bytes == 30);
  CHECK(scopes[1].memory[0].freed_bytes == 100);
  CHECK(scopes[1].memory[0].peak_inside_bytes == 30);
  REQUIRE(recording.scopes.marks.size() == 1);
  CHECK(recording.scopes.marks[0].name == "inner");
  CHECK(recording.scopes.marks[0].thread == 77);
  REQUIRE_FALSE(recording.scopes.marks[0].memory.empty());
  CHECK(recording.scopes.marks[0].memory[0].live_bytes == 30);
  CHECK(recording.scopes.marks[0].memory[0].live_blocks == 1);
}

TEST_CASE("a ring's scopes apart end in another ring, and an end of nothing is counted") {
  Session session;
  RingBuilder one = session.agent->claim();
  RingBuilder two = session.agent->claim();
  one.open(1, 1);
  two.open(2, 1);
  one.scope(Operation::kBegin, 4096, 10, 2);
  one.scope(Operation::kBeginApart, 1, 11, 2);
  one.malloc(0x1000, 100, {0x10}, 3);
  two.scope(Operation::kEndOnly, 0, 11, 4);
  two.scope(Operation::kEndOnly, 0, 11, 5);
  two.scope(Operation::kEndOnly, 0, 0, 6);
  one.scope(Operation::kEndOnly, 0, 10, 7);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  CHECK(recording.scopes.unmatched_ends == 2);
  REQUIRE(recording.scopes.scopes.size() == 2);
  for (const Scope& scope : recording.scopes.scopes) {
    CHECK(scope.parent == 0);
    CHECK(scope.ended == 1);
    CHECK(scope.memory[0].allocated_bytes == (scope.name == "inner" ? 100 : 0));
  }
}

TEST_CASE("a scope that is left in one ring is entered in another, and each thread's memory is in it") {
  Session session;
  RingBuilder one = session.agent->claim();
  RingBuilder two = session.agent->claim();
  one.open(1, 1);
  two.open(2, 1);
  one.scope(Operation::kBegin, 1, 11, 2);
  one.malloc(0x1000, 100, {0x10}, 3);
  one.scope(Operation::kLeave, 0, 11, 4);
  one.malloc(0x2000, 5, {0x10}, 5);  // in none
  two.malloc(0x3000, 6, {0x10}, 5);
  two.scope(Operation::kEnter, 0, 11, 6);
  two.malloc(0x4000, 20, {0x10}, 7);
  two.scope(Operation::kEnd, 0, 11, 8);
  two.malloc(0x5000, 7, {0x10}, 9);
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].ended == 1);
  CHECK(recording.scopes.scopes[0].memory[0].allocated_bytes == 120);
}

TEST_CASE("the next thread of a ring is in none of the scopes of the one before") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  ring.thread(2);
  ring.malloc(0x2000, 5, {0x10}, 2);
  ring.scope(Operation::kEnd, 0, 11, 3);  // it is over
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].left_open == 1);
  CHECK(recording.scopes.scopes[0].ended == 0);
  CHECK(recording.scopes.scopes[0].memory[0].allocated_bytes == 100);
}

TEST_CASE("a record of a scope that no agent writes stops its ring, and only that") {
  Session session;
  RingBuilder ring = session.agent->claim();
  RingBuilder other = session.agent->claim();
  ring.open(1, 1);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.malloc(0x1000, 10, {1, 2, 3}, 1);
  SECTION("no operation") { ring.scope(static_cast<Operation>(0), 0, 11, 1); }
  SECTION("an operation that there is not") { ring.scope(static_cast<Operation>(7), 0, 11, 1); }
  SECTION("the first one that there is not yet") { ring.scope(static_cast<Operation>(11), 0, 11, 1); }
  SECTION("the last one that there could be") { ring.scope(static_cast<Operation>(15), 0, 11, 1); }
  SECTION("a begin without a name") { ring.scope(Operation::kBegin, 0, 12, 1); }
  SECTION("a begin without an id") { ring.scope(Operation::kBegin, 1, 0, 1); }
  SECTION("a name beyond the table") { ring.scope(Operation::kBegin, wire::kMaxNames + 1, 12, 1); }
  SECTION("a name below the one that there was no room for") {
    ring.scope(Operation::kBegin, wire::kOtherName - 1, 12, 1);
  }
  SECTION("an end with a name") { ring.scope(Operation::kEnd, 1, 11, 1); }
  SECTION("an end without an id") { ring.scope(Operation::kEnd, 0, 0, 1); }
  SECTION("a leave with a name") { ring.scope(Operation::kLeave, wire::kOtherName, 11, 1); }
  SECTION("an enter without an id") { ring.scope(Operation::kEnter, 0, 0, 1); }
  SECTION("items of nothing") { ring.scope_items(0, 7); }
  SECTION("a mark without a name") { ring.scope(Operation::kMark, 0, 0, 1); }
  SECTION("a mark with an id") { ring.scope(Operation::kMark, 1, 11, 1); }
  SECTION("a scope of a device") {
    ring.device_next(wire::DeviceOperation::kRelease, wire::kFirstCudaDevice);
    ring.scope(Operation::kEnd, 0, 11, 1);
  }
  SECTION("a scope behind a size") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, 100'000});
    ring.scope(Operation::kEnd, 0, 11, 1);
  }
  SECTION("a scope whose stack was cut off") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixTruncated) << 60, 1});
    ring.scope(Operation::kEnd, 0, 11, 1);
  }
  session.collector->drain();
  ring.malloc(0x4000, 1000, {1, 2, 3}, 1);  // not believed any more
  other.open(2, 1);
  other.scope(Operation::kBegin, 1, 13, 1);
  other.malloc(0x5000, 20, {1, 2, 3}, 1);
  other.scope(Operation::kEnd, 0, 13, 2);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK_FALSE(recording.run.complete);
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].begun == 2);
  CHECK(recording.scopes.scopes[0].ended == 1);
  CHECK(recording.scopes.scopes[0].memory[0].allocated_bytes == 30);
}

TEST_CASE("a count of launches that goes back stops its ring") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.control(wire::ControlKind::kLaunches, 10);
  ring.control(wire::ControlKind::kLaunches, 3);
  ring.scope(Operation::kEnd, 0, 11, 2);
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].kernel_launches == 10);
  CHECK(recording.scopes.scopes[0].ended == 0);
  CHECK(recording.run.counters.corrupt_records == 1);
}

TEST_CASE("a time that is told and not used is no other scope's, and times that go back are none") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.control(wire::ControlKind::kScopeTime, 5000);
  ring.control(wire::ControlKind::kScopeTime, 1000);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.control(wire::ControlKind::kScopeTime, 900);
  ring.scope(Operation::kEnd, 0, 11, 1);
  ring.control(wire::ControlKind::kScopeTime, 0);  // nobody could read a clock
  ring.scope(Operation::kBegin, 1, 12, 1);
  ring.control(wire::ControlKind::kScopeTime, 8000);
  ring.scope(Operation::kEnd, 0, 12, 1);
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].ended == 2);
  CHECK(recording.scopes.scopes[0].time_ns == 0);
}

TEST_CASE("names that cannot be are read within their place") {
  Session session;
  const std::string text(wire::kNameBytes - 8, 't');
  const std::string next(wire::kNameBytes - 8, 'n');
  session.agent->set_name(1, "", text);
  session.agent->set_name(2, "", next);
  bool is_named = true;
  SECTION("a text beyond the place") { session.agent->name(1).text_bytes = 65535; }
  SECTION("a category beyond the place") {
    session.agent->name(1).category_bytes = 65535;
    session.agent->name(1).text_bytes = 65535;
  }
  SECTION("both at its end") {
    session.agent->name(1).category_bytes = 119;
    session.agent->name(1).text_bytes = 2;
  }
  SECTION("bytes that are no text") { std::memset(session.agent->name(1).characters, 0x9b, 120); }
  SECTION("zeros") { std::memset(session.agent->name(1).characters, 0, 120); }
  SECTION("a name that is half written") {
    session.agent->name(1).state.store(wire::NameState::kWriting);
    is_named = false;
  }
  SECTION("a name in no state at all") {
    session.agent->name(1).state.store(static_cast<wire::NameState>(77));
    is_named = false;
  }
  SECTION("a name that nobody wrote") {
    session.agent->name(1).state.store(wire::NameState::kFree);
    is_named = false;
  }
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.scope(Operation::kBegin, 1, 11, 1);
  ring.scope(Operation::kMark, 1, 0, 1);
  ring.scope(Operation::kEnd, 0, 11, 1);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  REQUIRE(recording.scopes.scopes.size() == 1);
  const Scope& scope = recording.scopes.scopes[0];
  CHECK((scope.name == "(other names)") == !is_named);
  CHECK(scope.category.size() + scope.name.size() <= 4 * (wire::kNameBytes - 8));
  if (is_named) CHECK((scope.category + scope.name).find('n') == std::string::npos);  // of the next place
  REQUIRE(recording.scopes.marks.size() == 1);
  CHECK(recording.scopes.marks[0].name == scope.name);
}

TEST_CASE("two numbers of one name are one scope") {
  Session session;
  session.agent->set_name(2, "", "outer");
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  for (uint64_t id = 1; id <= 10; ++id) {
    ring.scope(Operation::kBegin, 1 + id % 2, id, id);
    ring.malloc(0x1000 * id, 100, {0x10}, id);
    ring.scope(Operation::kBegin, 4096, 100 + id, id);
    ring.scope(Operation::kEnd, 0, 100 + id, id);
    ring.scope(Operation::kEnd, 0, id, id);
  }
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 2);
  CHECK(recording.scopes.scopes[0].begun == 10);
  CHECK(recording.scopes.scopes[0].memory[0].allocated_bytes == 1000);
  CHECK(recording.scopes.scopes[1].begun == 10);
  CHECK(recording.scopes.scopes[1].parent == 1);
}

// Any ids, any operations, from several rings at once: the sums still hold.
TEST_CASE("scopes in any order, in any ring, leave the books in order") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  std::mt19937_64 random(seed);
  Session session;
  std::vector<RingBuilder> rings;
  for (uint32_t i = 0; i < 3; ++i) {
    rings.push_back(session.agent->claim());
    rings.back().open(10 + i, 1);
  }
  uint64_t begun = 0, bytes = 0;
  for (uint64_t i = 1; i < 20'000; ++i) {
    RingBuilder& ring = rings[random() % rings.size()];
    const auto operation = static_cast<Operation>(1 + random() % 5);
    const uint64_t id = 1 + random() % 50;
    if (random() % 4 == 0) {
      ring.malloc(0x1000 * i, 10, {0x10}, i);
      bytes += 10;
    } else if (operation == Operation::kItems) {
      ring.scope_items(id, 3);
    } else {
      const bool is_begin = operation == Operation::kBegin;
      begun += is_begin ? 1 : 0;
      ring.scope(operation, is_begin ? 1 : 0, id, i);
    }
    if (random() % 500 == 0) ring.thread(static_cast<uint32_t>(10 + random() % 6));
    if (random() % 1000 == 0) {
      session.agent->control().sequence.store(i);
      session.collector->drain();
    }
  }
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 0);
  CHECK(recording.devices[0].totals.total_bytes == bytes);
  uint64_t seen = recording.scopes.lost, closed = 0, inside = 0;
  for (const Scope& scope : recording.scopes.scopes) {
    seen += scope.begun;
    closed += scope.ended + scope.left_open;
    inside += scope.memory[0].allocated_bytes;
  }
  CHECK(seen == begun);
  CHECK(closed <= begun);
  CHECK(inside <= bytes);
  CHECK(inside > 0);
}

}  // namespace heapprof::cli
