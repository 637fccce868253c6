// tests/unit/collect/name_book_test.cc: names that a program gives to its memory: on the heap, through reallocs and
// events that come out of order; on devices; on pages; and as an agent writes them, and as none would.
#include "cli/collect/books/name_book.h"

#include "cli/collect/books/inner_blocks.h"
#include "cli/collect/process_collector.h"
#include "tests/support/ledger_books.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

constexpr uint32_t kCache = 1;
constexpr uint32_t kWeights = 2;

class Books : public test::Books {
 public:
  using test::Books::Books;
  void name(uint64_t stamp, uint32_t thread, uint64_t address, uint32_t name) {
    send(stamp, thread, EventKind::kName, address, name);
  }
  void device(const DeviceEvent& device_event, uint64_t size_bytes) {
    send(0, 1, EventKind::kDevice, ledger.device_events().put(device_event), size_bytes, 3);
  }
  void finish() { test::Books::finish(1'000'000); }
  static void check(const NameBook& book, uint32_t name, uint64_t live_bytes, uint64_t max_bytes,
                    uint64_t total_bytes) {
    REQUIRE(book.sums().count(name) == 1);
    const NameSum& sum = book.sums().at(name);
    CHECK(sum.live.bytes == live_bytes);
    CHECK(sum.max.bytes == max_bytes);
    CHECK(sum.total.bytes == total_bytes);
    uint64_t of_sites = 0;
    for (const auto& [key, site] : book.sites()) of_sites += key.first == name ? site.live.bytes : 0;
    CHECK(of_sites == live_bytes);
  }
  void check(uint32_t name, uint64_t live_bytes, uint64_t max_bytes, uint64_t total_bytes) const {
    check(ledger.names(), name, live_bytes, max_bytes, total_bytes);
  }
};

}  // namespace

TEST_CASE("a block has the last name that it got, until it is freed") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.malloc(2, 1, 0x20, 30);
  books.name(3, 1, 0x10, kCache);
  books.name(4, 2, 0x20, kCache);
  books.name(5, 2, 0x20, kCache);  // once more
  books.check(kCache, 130, 130, 130);
  books.name(6, 2, 0x10, kWeights);
  books.check(kCache, 30, 130, 130);
  books.check(kWeights, 100, 100, 100);
  books.free(7, 1, 0x10);
  books.check(kWeights, 0, 100, 100);
  books.malloc(8, 1, 0x10, 7);  // another block, which has none
  books.free(9, 1, 0x10);
  books.finish();
  books.check(kCache, 30, 130, 130);
  CHECK(books.ledger.counts().unmatched_names == 0);
}

TEST_CASE("a name of what is not live is counted, and no later block has it") {
  Books books(1000);
  books.name(1, 1, 0x10, kCache);
  books.malloc(2, 2, 0x10, 100);
  books.free(3, 2, 0x10);
  books.name(4, 2, 0x10, kCache);
  books.finish();
  CHECK(books.ledger.counts().unmatched_names == 2);
  CHECK(books.ledger.names().empty());
}

TEST_CASE("a realloc takes the name along, and one that fails leaves it") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.name(2, 1, 0x10, kCache);
  books.begin(3, 1, 0x10);
  books.malloc(4, 2, 0x10, 5);  // the address is another block's already
  books.free(5, 2, 0x10);
  books.check(kCache, 100, 100, 100);
  books.end(6, 1, 0x20, 300);
  books.check(kCache, 300, 300, 400);
  books.begin(7, 1, 0x20);
  books.cancel(8, 1);
  books.check(kCache, 300, 300, 400);
  books.begin(9, 1, 0x20);
  SECTION("and then frees it") { books.ledger.apply(Event{10, 0, 0, 0, pack_thread(1, EventKind::kReallocFree)}, 0); }
  SECTION("and then fails, when the address is another block's") {
    books.malloc(10, 2, 0x20, 6);
    books.cancel(11, 1);
  }
  books.finish();
  books.check(kCache, 0, 300, 400);
  CHECK(books.ledger.counts().unmatched_names == 0);
}

TEST_CASE("a name waits where its block's begin waits for the end of the one before") {
  Books books(1000);
  books.malloc(10, 1, 0x10, 100);
  books.name(11, 1, 0x10, kWeights);
  SECTION("a begin") { books.malloc(19, 2, 0x10, 70); }
  SECTION("what a realloc made") {
    books.malloc(12, 2, 0x20, 9);
    books.name(13, 2, 0x20, kCache);
    books.begin(18, 2, 0x20);
    books.end(19, 2, 0x10, 70);
  }
  books.name(20, 2, 0x10, kCache);  // not of the block that is still there by the books
  books.check(kWeights, 100, 100, 100);
  books.free(21, 1, 0x10);
  books.finish();
  books.check(kWeights, 0, 100, 100);
  CHECK(books.ledger.names().sums().at(kCache).live.bytes == 70);
  CHECK(books.ledger.counts().unmatched_names == 0);
}

TEST_CASE("memory of a device has its name where it is, and again where its release failed") {
  Books books;
  const uint32_t cuda = wire::kFirstCudaDevice;
  books.device({wire::DeviceOperation::kAllocate, cuda, 0, 0x7000}, 4096);
  books.device({wire::DeviceOperation::kCreateHandle, cuda, 0x99, 8}, 1000);
  books.device({wire::DeviceOperation::kMap, cuda, 0x99, 0x100000}, 1000);
  books.name(0, 1, 0x7000, kWeights);
  books.name(0, 1, 0x100000, kCache);
  books.name(0, 1, 0x100008, kCache);  // not where it begins
  const NameBook& names = books.ledger.devices().books().at(cuda)->names;
  Books::check(names, kWeights, 4096, 4096, 4096);
  Books::check(names, kCache, 1000, 1000, 1000);
  books.device({wire::DeviceOperation::kRelease, 0, 0, 0x7000}, 0);
  Books::check(names, kWeights, 0, 4096, 4096);
  books.device({wire::DeviceOperation::kKeep, 0, 0, 0x7000}, 0);
  books.finish();
  Books::check(names, kWeights, 4096, 4096, 4096);
  CHECK(books.ledger.counts().unmatched_names == 1);
}

TEST_CASE("a tensor has its name, and not the segment that begins where it does") {
  using Operation = wire::DeviceOperation;
  Books books;
  const uint32_t cuda = wire::kFirstCudaDevice;
  const uint64_t segment = 0x7000'0000, second = segment + 512;
  books.device({Operation::kAllocate, cuda, 0, segment}, 2 << 20);
  books.device({Operation::kBeginInner, cuda, 0, segment}, 512);
  books.device({Operation::kBeginInner, cuda, 0, second}, 1024);
  books.name(0, 1, segment, kWeights);
  books.name(0, 1, second, kWeights);
  books.name(0, 1, second, kCache);
  books.name(0, 1, second, kCache);
  books.name(0, 1, second + 8, kCache);  // not where it begins
  const NameBook& names = books.ledger.devices().books().at(inner_number(cuda))->names;
  Books::check(names, kWeights, 512, 1536, 1536);
  Books::check(names, kCache, 1024, 1024, 1024);
  books.device({Operation::kEndInner, cuda, 0, second}, 0);
  books.device({Operation::kBeginInner, cuda, 0, second}, 2048);  // another tensor, which nobody has named
  Books::check(names, kCache, 0, 1024, 1024);
  books.device({Operation::kBeginInner, cuda, 0, segment}, 4096);  // its end went by unseen
  Books::check(names, kWeights, 0, 1536, 1536);
  CHECK(books.ledger.devices().books().at(cuda)->names.empty());
  books.device({Operation::kEndInner, cuda, 0, segment}, 0);
  books.name(0, 1, segment, kCache);  // the segment has no tensor there now
  Books::check(books.ledger.devices().books().at(cuda)->names, kCache, 2 << 20, 2 << 20, 2 << 20);
  CHECK(books.ledger.counts().unmatched_names == 1);
}

TEST_CASE("pages have their name until the last of them is gone, and mremap takes it along") {
  constexpr uint64_t kPage = 4096;
  const uint32_t mapped = wire::kMappedDevice;
  Books books;
  books.device({wire::DeviceOperation::kMapRange, mapped, 0, 10 * kPage}, 4 * kPage);
  books.name(0, 1, 10 * kPage, kCache);
  books.name(0, 1, 11 * kPage, kCache);  // in the middle
  const NameBook& names = books.ledger.mappings().book(mapped)->names;
  books.device({wire::DeviceOperation::kUnmapRange, 0, kPage, 13 * kPage}, 0);
  Books::check(names, kCache, 3 * kPage, 4 * kPage, 4 * kPage);
  books.device({wire::DeviceOperation::kKeepRange, 0, 0, 13 * kPage}, 0);
  Books::check(names, kCache, 4 * kPage, 4 * kPage, 4 * kPage);
  books.device({wire::DeviceOperation::kMoveRange, 0, 4 * kPage, 10 * kPage}, 0);
  books.device({wire::DeviceOperation::kMapRange, mapped, wire::kMapIsMoved, 50 * kPage}, 8 * kPage);
  Books::check(names, kCache, 8 * kPage, 8 * kPage, 12 * kPage);
  books.device({wire::DeviceOperation::kUnmapRange, 0, 8 * kPage, 50 * kPage}, 0);
  Books::check(names, kCache, 0, 8 * kPage, 12 * kPage);
  books.device({wire::DeviceOperation::kKeepRange, 0, 0, 50 * kPage}, 0);
  books.finish();
  Books::check(names, kCache, 8 * kPage, 8 * kPage, 12 * kPage);
  CHECK(books.ledger.counts().unmatched_names == 1);
}

namespace {

struct Session {
  Session() {
    CollectorOptions options;
    options.clock_mode = wire::ClockMode::kSequence;
    collector = std::move(ProcessCollector::create(options)).value();
    agent = std::make_unique<test::FakeAgent>(collector->arena_fd());
    collector->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
    agent->set_name(1, "model", "cache");
    agent->set_name(7, "model", "cache");  // made by another thread at the same time
  }
  Recording finish() {
    agent->control().sequence.store(1'000'000);
    collector->drain_to_end();
    Recording recording = collector->finish();
    for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
    return recording;
  }
  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<test::FakeAgent> agent;
};

void put_address(test::RingBuilder* ring, uint64_t address) {
  ring->put({static_cast<uint64_t>(wire::RecordType::kPrefixAddress) << 60, address});
}

}  // namespace

TEST_CASE("the names of a ring are in the recording, one for each text") {
  Session session;
  test::RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  put_address(&ring, 0x1000);
  ring.scope(wire::ScopeOperation::kNameBlock, 1, 0, 2);
  ring.malloc(0x2000, 50, {0x10}, 3);
  put_address(&ring, 0x2000);
  ring.scope(wire::ScopeOperation::kNameBlock, 7, 0, 4);
  ring.malloc(0x3001, 7, {0x10}, 5);
  put_address(&ring, 0x3001);
  ring.scope(wire::ScopeOperation::kNameBlock, wire::kOtherName, 0, 6);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  const std::vector<NamedMemory>& names = recording.devices[0].names;
  REQUIRE(names.size() == 2);
  CHECK(names[0].category == "model");
  CHECK(names[0].name == "cache");
  CHECK(names[0].max_bytes == 150);
  CHECK(names[0].leaked_blocks == 2);
  REQUIRE(names[0].sites.size() == 1);
  CHECK(names[0].sites[0].leaked_bytes == 150);
  CHECK(names[1].name == "(other names)");
  CHECK(names[1].leaked_bytes == 7);
}

TEST_CASE("a name of memory that no agent writes stops its ring") {
  Session session;
  test::RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 100, {0x10}, 1);
  SECTION("without an address") { ring.scope(wire::ScopeOperation::kNameBlock, 1, 0, 2); }
  SECTION("at no address") {
    put_address(&ring, 0);
    ring.scope(wire::ScopeOperation::kNameBlock, 1, 0, 2);
  }
  SECTION("without a name") {
    put_address(&ring, 0x1000);
    ring.scope(wire::ScopeOperation::kNameBlock, 0, 0, 2);
  }
  SECTION("with an id") {
    put_address(&ring, 0x1000);
    ring.scope(wire::ScopeOperation::kNameBlock, 1, 5, 2);
  }
  SECTION("with a size") {
    ring.put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, 100'000});
    put_address(&ring, 0x1000);
    ring.scope(wire::ScopeOperation::kNameBlock, 1, 0, 2);
  }
  SECTION("a mark at an address") {
    put_address(&ring, 0x1000);
    ring.scope(wire::ScopeOperation::kMark, 1, 0, 2);
  }
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.devices[0].names.empty());
}

}  // namespace heapprof::cli
