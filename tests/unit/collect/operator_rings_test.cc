// tests/unit/collect/operator_rings_test.cc: operators of PyTorch as an agent writes them: each function of the
// backward pass has the operator that left it, and no other; and as no agent would write them.
#include "cli/collect/books/operator_book.h"
#include "tests/support/ring_session.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using Operation = wire::ScopeOperation;

constexpr uint32_t kLinear = 1, kAdd = 2, kAddBack = 3;

struct Session : test::RingSession {
  Session() {
    agent->set_name(kLinear, "", "linear");
    agent->set_name(kAdd, "", "add");
    agent->set_name(kAddBack, "", "AddBack");
  }
};

void begin(RingBuilder* ring, uint32_t name, uint64_t id, uint64_t operator_word, uint64_t stamp) {
  ring->put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, operator_word});
  ring->scope(Operation::kBegin, name, id, stamp);
}

void run(RingBuilder* ring, uint32_t name, uint64_t id, uint64_t operator_word, uint64_t stamp) {
  begin(ring, name, id, operator_word, stamp);
  ring->scope(Operation::kEndOnly, 0, id, stamp);
}

const Scope& named(const Recording& recording, const std::string& name) {
  for (const Scope& scope : recording.scopes.scopes) {
    if (scope.name == name) return scope;
  }
  throw std::runtime_error("no scope of that name");
}

}  // namespace

TEST_CASE("the innermost of the operators with one number left the function") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  begin(&ring, kLinear, 1, wire::pack_operator(false, 5), 1);
  run(&ring, kAdd, 2, wire::pack_operator(false, 5), 2);
  ring.scope(Operation::kEndOnly, 0, 1, 3);
  begin(&ring, kAddBack, 3, wire::pack_operator(true, 5), 4);
  ring.malloc(0x1000, 100, {0x10}, 4);
  begin(&ring, kAdd, 4, wire::pack_operator(false, -1), 5);
  ring.malloc(0x2000, 30, {0x10}, 5);
  ring.scope(Operation::kEndOnly, 0, 4, 6);
  ring.scope(Operation::kEndOnly, 0, 3, 6);
  const Recording recording = session.finish();
  const Scope& backward = named(recording, "AddBack");
  CHECK(backward.is_operator);
  CHECK(backward.memory[0].allocated_bytes == 100);
  REQUIRE(backward.backward_of.size() == 1);
  CHECK(backward.backward_of[0].operator_path == "linear > add");
  CHECK(backward.backward_of[0].begun == 1);
  REQUIRE(backward.backward_of[0].memory.size() == 1);
  CHECK(backward.backward_of[0].memory[0].allocated_bytes == 130);
  CHECK(backward.backward_of[0].memory[0].allocated_blocks == 2);
}

TEST_CASE("one function that works for two operators is one scope, and says what it did for each") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  run(&ring, kAdd, 1, wire::pack_operator(false, 1), 1);
  run(&ring, kLinear, 2, wire::pack_operator(false, 2), 2);
  for (uint64_t i = 0; i < 3; ++i) run(&ring, kAddBack, 3 + i, wire::pack_operator(true, i == 0 ? 2 : 1), 3 + i);
  run(&ring, kAddBack, 9, wire::pack_operator(true, 99), 9);  // nobody's
  const Recording recording = session.finish();
  REQUIRE(recording.scopes.scopes.size() == 3);
  const Scope& backward = named(recording, "AddBack");
  CHECK(backward.begun == 4);
  REQUIRE(backward.backward_of.size() == 2);
  CHECK(backward.backward_of[0].operator_path == "add");
  CHECK(backward.backward_of[0].begun == 2);
  CHECK(backward.backward_of[1].operator_path == "linear");
  CHECK(backward.backward_of[1].begun == 1);
}

TEST_CASE("a number that two threads had is nobody's") {
  Session session;
  RingBuilder first = session.agent->claim(), second = session.agent->claim();
  first.open(77, 1);
  second.open(78, 1);
  run(&first, kAdd, 1, wire::pack_operator(false, 7), 2);
  run(&second, kLinear, uint64_t{1} << wire::kScopeCountBits | 1, wire::pack_operator(false, 7), 3);
  run(&first, kAddBack, 2, wire::pack_operator(true, 7), 4);
  const Recording recording = session.finish();
  CHECK(named(recording, "AddBack").backward_of.empty());
}

TEST_CASE("numbers begin anew, and old ones are forgotten") {
  OperatorBook book;
  CHECK(book.forward_of(wire::pack_operator(true, 1)) == 0);
  CHECK(book.bytes() == 0);
  book.note(wire::pack_operator(false, -1), 3, 1);
  CHECK(book.bytes() == 0);
  book.note(wire::pack_operator(false, 1), 4, 1);
  CHECK(book.forward_of(wire::pack_operator(true, 1)) == 4);
  CHECK(book.forward_of(wire::pack_operator(true, 1 + OperatorBook::kKept)) == 0);
  book.note(wire::pack_operator(false, 1 + OperatorBook::kKept), 5, 1);
  CHECK(book.forward_of(wire::pack_operator(true, 1)) == 0);
  CHECK(book.forward_of(wire::pack_operator(true, 1 + OperatorBook::kKept)) == 5);
  CHECK(wire::pack_operator(false, 0) == wire::pack_operator(false, wire::kSequences));
  CHECK(wire::operator_sequence(wire::pack_operator(true, wire::kSequences - 1)) == wire::kSequences);
  CHECK(wire::operator_sequence(wire::pack_operator(true, INT64_MAX)) != 0);
}

TEST_CASE("an operator that no agent writes stops its ring") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  SECTION("without its mark") { begin(&ring, kAdd, 1, wire::kOperatorBackward, 2); }
  SECTION("of too many bits") { begin(&ring, kAdd, 1, uint64_t{1} << 32 | wire::kOperator, 2); }
  SECTION("that ends") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, wire::kOperator});
    ring.scope(Operation::kEndOnly, 0, 1, 2);
  }
  SECTION("that is apart") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, wire::kOperator});
    ring.scope(Operation::kBeginApart, kAdd, 1, 2);
  }
  SECTION("at an address") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixAddress) << 60, 0x1000});
    begin(&ring, kAdd, 1, wire::kOperator, 2);
  }
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.scopes.scopes.empty());
}

}  // namespace heapprof::cli
