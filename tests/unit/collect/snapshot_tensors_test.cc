// tests/unit/collect/snapshot_tensors_test.cc: tensors that a thread tells of before a snapshot, and what no agent
// tells.
#include "cli/collect/books/tensor_book.h"
#include "tests/support/ring_session.h"

#include <catch2/catch.hpp>

#include <map>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using Operation = wire::ScopeOperation;
using wire::TensorRole;

struct Session : test::RingSession {
  Session() {
    agent->set_name(1, "", "loaded");
    agent->set_name(2, "tensor", "fc.weight float32 [2]");
  }
};

void tell(RingBuilder* ring, uint64_t address, TensorRole role, uint64_t stamp, uint32_t name = 0) {
  ring->put({static_cast<uint64_t>(wire::RecordType::kPrefixAddress) << 60, address});
  ring->scope(Operation::kTensor, name, static_cast<uint64_t>(role), stamp);
}

std::map<std::string, uint64_t> bytes_by_role(const SnapshotTensors& tensors) {
  std::map<std::string, uint64_t> bytes;
  for (const TensorSite& site : tensors.sites) bytes[site.role] += site.live_bytes;
  return bytes;
}

}  // namespace

TEST_CASE("tensors are what the books have at their addresses at the snapshot") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  ring.malloc(0x2000, 30, {0x20}, 2);
  ring.malloc(0x3000, 7, {0x20}, 3);
  tell(&ring, 0x1000, TensorRole::kWeight, 4, 2);
  tell(&ring, 0x2000, TensorRole::kInput, 5);
  tell(&ring, 0x1000, TensorRole::kActivation, 6);  // it has a role
  tell(&ring, 0x3000, TensorRole::kInput, 7);
  tell(&ring, 0x9999, TensorRole::kInput, 8);
  ring.free(0x3000, 9);  // before the snapshot: its memory may be anybody's
  ring.scope(Operation::kSnapshot, 1, 1, 10);
  ring.scope(Operation::kSnapshot, 1, 0, 11);
  const Recording recording = session.finish();
  REQUIRE(recording.snapshots.snapshots.size() == 2);
  CHECK(recording.snapshots.interval_ns == kMarksOnly);
  CHECK(recording.scopes.marks.size() == 2);
  const Snapshot& snapshot = recording.snapshots.snapshots[0];
  CHECK(snapshot.name == "loaded");
  CHECK(snapshot.lost_tensors == 2);
  REQUIRE(snapshot.tensors.size() == 1);
  CHECK(snapshot.tensors[0].device == "host");
  CHECK(bytes_by_role(snapshot.tensors[0]) ==
        std::map<std::string, uint64_t>{{"weights", 100}, {"inputs and other data", 30}});
  REQUIRE(snapshot.tensors[0].largest.size() == 2);
  CHECK(snapshot.tensors[0].largest[0].name == "fc.weight float32 [2]");
  CHECK(snapshot.tensors[0].largest[0].node != 0);
  CHECK(snapshot.tensors[0].largest[1].name.empty());
  CHECK_FALSE(recording.snapshots.snapshots[1].has_tensors());
}

TEST_CASE("a snapshot has what its own thread told of") {
  Session session;
  RingBuilder first = session.agent->claim(), second = session.agent->claim();
  first.open(77, 1);
  second.open(78, 1);
  first.malloc(0x1000, 100, {0x10}, 2);
  tell(&second, 0x1000, TensorRole::kGradient, 3);
  first.scope(Operation::kSnapshot, 1, 1, 4);
  second.scope(Operation::kSnapshot, 1, 1, 5);
  const Recording recording = session.finish();
  REQUIRE(recording.snapshots.snapshots.size() == 2);
  CHECK(recording.snapshots.snapshots[0].tensors.empty());
  REQUIRE(recording.snapshots.snapshots[1].tensors.size() == 1);
  CHECK(bytes_by_role(recording.snapshots.snapshots[1].tensors[0]).at("gradients") == 100);
}

TEST_CASE("more sites than are kept are one, and the sums stay whole") {
  TensorBook book;
  KeptTensors tensors{0, {}, {}};
  uint64_t bytes = 0;
  for (uint32_t i = 1; i <= 3000; ++i) {
    book.keep({i, 0, i, 0, TensorRole::kInput}, &tensors);
    bytes += i;
  }
  CHECK(tensors.sites.size() <= TensorBook::kMostSites + wire::kTensorRoles);
  uint64_t kept = 0;
  for (const auto& [key, sum] : tensors.sites) kept += sum.bytes;
  CHECK(kept == bytes);
  REQUIRE(tensors.largest.size() == TensorBook::kLargest);
  CHECK(tensors.largest[0].size_bytes == 3000);
  CHECK(tensors.largest[9].size_bytes == 2991);
}

TEST_CASE("sites of all snapshots are bounded, and their sums stay whole") {
  TensorBook book;
  uint64_t kept = 0, sites = 0;
  for (uint32_t snapshot = 0; snapshot < 200; ++snapshot) {
    KeptTensors tensors{0, {}, {}};
    for (uint32_t i = 1; i <= 1000; ++i) book.keep({i, 0, i, 0, TensorRole::kWeight}, &tensors);
    for (const auto& [key, sum] : tensors.sites) kept += sum.bytes;
    sites += tensors.sites.size();
  }
  CHECK(kept == 200 * 500'500);
  CHECK(sites <= TensorBook::kMostKeptSites + 200 * wire::kTensorRoles);
}

TEST_CASE("what is told without end is bounded, and counted") {
  TensorBook book;
  for (uint64_t i = 0; i < TensorBook::kMost + 5; ++i) book.tell(3, {i, 0, TensorRole::kInput});
  CHECK(book.bytes() == TensorBook::kMost * sizeof(ToldTensor));
  CHECK(book.take_left_out(3) == 5);
  CHECK(book.take(3).size() == TensorBook::kMost);
  CHECK(book.bytes() == 0);
  book.tell(3, {1, 0, TensorRole::kInput});
  book.forget_thread(3);
  CHECK(book.take(3).empty());
  CHECK(book.bytes() == 0);
}

TEST_CASE("a tensor or a snapshot that no agent writes stops its ring") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  SECTION("without a role") { tell(&ring, 0x1000, static_cast<TensorRole>(0), 2); }
  SECTION("of no role") { tell(&ring, 0x1000, static_cast<TensorRole>(wire::kTensorRoles + 1), 2); }
  SECTION("without an address") { ring.scope(Operation::kTensor, 0, 1, 2); }
  SECTION("a snapshot without a name") { ring.scope(Operation::kSnapshot, 0, 1, 2); }
  SECTION("a snapshot of more than one bit") { ring.scope(Operation::kSnapshot, 1, 2, 2); }
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.snapshots.snapshots.empty());
}

}  // namespace heapprof::cli
