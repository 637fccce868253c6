// tests/unit/collect/inner_blocks_test.cc: blocks inside of memory that counts elsewhere, from a ring's records to the
// devices of a recording.
#include "cli/collect/books/inner_blocks.h"

#include "cli/collect/books/device_ledger.h"
#include "shared/device_operations.h"
#include "tests/support/device_session.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using test::Stack;
using Operation = wire::DeviceOperation;

constexpr uint32_t kPython = wire::kPythonDevice;
constexpr uint32_t kCuda0 = wire::kFirstCudaDevice;
const Stack kStack = {0x10, 0x20};

// With one ring.
class Session : public test::DeviceSession {
 public:
  explicit Session(bool is_fork = false) : DeviceSession(is_fork), ring_(claim(7)) {}
  RingBuilder& ring() { return ring_; }
  void begin(Operation operation, uint32_t device, uint64_t address, uint64_t size, const Stack& stack = kStack) {
    ring_.device_next(operation, device);
    ring_.malloc(address, size, stack, next_stamp());
  }
  void end(Operation operation, uint32_t device, uint64_t address) {
    ring_.device_next(operation, device);
    ring_.free(address, next_stamp());
  }

 private:
  RingBuilder ring_;
};

TEST_CASE("inner blocks have a device beside what they lie in, at the same addresses") {
  Session session;
  session.ring().malloc(0x1000, 600, kStack, session.next_stamp());  // the heap's block of a large object
  session.begin(Operation::kBeginInner, kPython, 0x1000, 599);
  session.begin(Operation::kBeginInner, kPython, 0x2000, 40);
  session.begin(Operation::kAllocate, kCuda0, 0x700000, 2 << 20);
  session.begin(Operation::kBeginInner, kCuda0, 0x700000, 512);
  session.begin(Operation::kBeginInner, kCuda0, 0x700200, 1024);
  session.end(Operation::kEndInner, kPython, 0x2000);
  session.end(Operation::kEndInner, kCuda0, 0x700000);
  const Recording& recording = session.finish();
  REQUIRE(recording.devices.size() == 4);
  CHECK(recording.devices[0].totals.leaked_bytes == 600);
  CHECK(recording.devices[1].name == "cuda:0");
  CHECK(recording.devices[1].totals.leaked_bytes == 2 << 20);
  CHECK(recording.devices[2].name == "cuda:0/tensors");
  CHECK(recording.devices[2].totals.peak_bytes == 1536);
  CHECK(recording.devices[2].totals.leaked_bytes == 1024);
  CHECK(recording.devices[3].name == "python");
  CHECK(recording.devices[3].totals.total_bytes == 639);
  CHECK(recording.devices[3].totals.leaked_blocks == 1);
  CHECK(recording.devices[3].totals.temporary_blocks == 1);
  CHECK(recording.run.counters.unmatched_device_events == 0);
  CHECK(recording.run.counters.allocations == 1);
}

TEST_CASE("a resized inner block counts until its resize has come to an end") {
  Session session;
  session.begin(Operation::kBeginInner, kPython, 0x1000, 100);
  session.end(Operation::kMoveInner, kPython, 0x1000);
  session.begin(Operation::kBeginInner, kPython, 0x5000, 50);  // of a signal handler, or of another interpreter
  session.begin(Operation::kResizeInner, kPython, 0x3000, 400);
  session.end(Operation::kMoveInner, kPython, 0x3000);
  session.end(Operation::kKeepInner, kPython, 0x3000);  // there was no memory
  session.end(Operation::kEndInner, kPython, 0x3000);
  session.end(Operation::kEndInner, kPython, 0x5000);
  session.finish();
  const DeviceTotals& totals = session.device("python").totals;
  CHECK(totals.peak_bytes == 450);
  CHECK(totals.total_bytes == 550);
  CHECK(totals.total_blocks == 3);
  CHECK(totals.leaked_bytes == 0);
}

TEST_CASE("what is left half way of a resize is live, and its end is no surprise") {
  Session session;
  session.begin(Operation::kBeginInner, kPython, 0x1000, 100);
  session.end(Operation::kMoveInner, kPython, 0x1000);
  session.begin(Operation::kBeginInner, kPython, 0x2000, 10);
  session.end(Operation::kMoveInner, kPython, 0x2000);  // the thread left the first one
  session.begin(Operation::kResizeInner, kPython, 0x2000, 30);
  const Recording& recording = session.finish();
  CHECK(session.device("python").totals.leaked_bytes == 130);
  CHECK(recording.run.counters.unmatched_device_events == 0);
}

TEST_CASE("ends of inner blocks that never began are counted, but not in a forked child") {
  for (const bool is_fork : {false, true}) {
    Session session(is_fork);
    session.begin(Operation::kBeginInner, kPython, 0x1000, 100);
    session.end(Operation::kEndInner, kPython, 0x9000);
    session.end(Operation::kMoveInner, kPython, 0x9800);
    session.begin(Operation::kResizeInner, kPython, 0x9900, 7);
    const Recording& recording = session.finish();
    CHECK(recording.run.counters.unmatched_device_events == (is_fork ? 0 : 2));
    CHECK(session.device("python").totals.leaked_bytes == 107);
  }
}

constexpr uint64_t kMiB = 1 << 20;

TEST_CASE("what a tensor has lain in is a segment, with gaps, when most is reserved and at the end") {
  Session session;
  session.begin(Operation::kAllocate, kCuda0, 10 * kMiB, 2 * kMiB);
  session.begin(Operation::kAllocate, kCuda0, 20 * kMiB, 4 * kMiB);
  session.begin(Operation::kAllocate, kCuda0, 30 * kMiB, 8 * kMiB);  // nobody's tensors
  session.begin(Operation::kBeginInner, kCuda0, 10 * kMiB, kMiB / 2);
  session.begin(Operation::kBeginInner, kCuda0, 11 * kMiB, kMiB / 4);
  session.begin(Operation::kBeginInner, kCuda0, 23 * kMiB, kMiB);
  session.end(Operation::kEndInner, kCuda0, 23 * kMiB);
  session.end(Operation::kRelease, 0, 20 * kMiB);
  session.begin(Operation::kBeginInner, kCuda0, 99 * kMiB, 700);  // the driver was not seen to give it out
  session.finish();
  const SegmentsUse& use = session.device("cuda:0/tensors").segments;
  CHECK(use.at_peak.reserved_bytes == 6 * kMiB);
  CHECK(use.at_peak.allocated_bytes == kMiB * 3 / 4);
  CHECK(use.at_peak.empty_count == 1);
  CHECK(use.at_peak.empty_bytes == 4 * kMiB);
  CHECK(use.at_peak.largest_gap_bytes == 4 * kMiB);
  CHECK(use.at_end.reserved_bytes == 2 * kMiB);
  CHECK(use.at_end.elsewhere_bytes == 700);
  REQUIRE(use.at_end.segments.size() == 1);
  CHECK(use.at_end.segments[0].gaps == 2);
  CHECK(use.at_end.segments[0].largest_gap_bytes == kMiB * 3 / 4);
  CHECK_FALSE(use.has_refusal());
}

TEST_CASE("mappings side by side are one segment, and a tensor may lie across them") {
  Session session;
  for (uint64_t i = 0; i < 3; ++i) {
    session.ring().device_next(Operation::kCreateHandle, kCuda0, 100 + i);
    session.ring().malloc(8, kMiB, kStack, session.next_stamp());
    session.ring().device_next(Operation::kMap, 0, 100 + i);
    session.ring().malloc((50 + i) * kMiB, kMiB, kStack, session.next_stamp());
  }
  session.begin(Operation::kBeginInner, kCuda0, 50 * kMiB + 512, kMiB + kMiB / 2);
  session.ring().device_next(Operation::kRefuseInner, kCuda0, wire::pack_refusal(1, false));
  session.ring().malloc(wire::pack_free(5), 9 * kMiB, kStack, session.next_stamp());
  session.finish();
  const RecordedDevice& tensors = session.device("cuda:0/tensors");
  CHECK(tensors.segments.at_end.segments_count == 1);
  CHECK(tensors.segments.at_end.reserved_bytes == 3 * kMiB);
  CHECK(tensors.segments.at_end.largest_gap_bytes == kMiB + kMiB / 2 - 512);
  CHECK(tensors.segments.at_refusal.reserved_bytes == 3 * kMiB);
  REQUIRE(tensors.refusals.size() == 1);
  CHECK(tensors.refusals[0].size_bytes == 9 * kMiB);
  CHECK(tensors.refusals[0].live_bytes == kMiB + kMiB / 2);
  CHECK(tensors.refusals[0].live_sites.size() == 1);
  CHECK(session.device("cuda:0").totals.leaked_bytes == 3 * kMiB);
}

TEST_CASE("what has no blocks inside is no such device") {
  for (const uint32_t device : {0u, wire::kPinnedDevice, wire::kMappedDevice, 9u, 14u}) {
    CHECK_FALSE(wire::is_sound(Operation::kBeginInner, {wire::RecordType::kMalloc, device, 0, 0x1000, 8}));
    CHECK_FALSE(wire::is_sound(Operation::kAllocate, {wire::RecordType::kMalloc, kPython, 0, 0x1000, 8}));
  }
}

TEST_CASE("inner blocks at random are what simple books say") {
  std::mt19937 random(20261125);
  DeviceBook book;
  InnerBlocks blocks(&book);
  std::map<uint64_t, uint64_t> sizes;
  uint64_t live = 0, peak = 0, total = 0, ticks = 0;
  const auto event_of = [&](uint64_t size) {
    return Event{ticks, 0, size, 1 + static_cast<uint32_t>(random() % 20), pack_thread(1, EventKind::kDevice)};
  };
  for (int i = 0; i < 200'000; ++i) {
    ++ticks;
    const uint64_t address = 16 * (1 + random() % 5000);
    const auto at = sizes.find(address);
    if (at == sizes.end()) {
      const uint64_t size = random() % 700;
      blocks.apply(Operation::kBeginInner, address, event_of(size), ticks);
      sizes[address] = size;
      live += size;
      total += size;
    } else if (random() % 3 != 0) {
      blocks.apply(Operation::kEndInner, address, event_of(0), ticks);
      live -= at->second;
      sizes.erase(at);
    } else {
      const uint64_t target = random() % 2 == 0 ? address : 16 * (6000 + random() % 5000);
      blocks.apply(Operation::kMoveInner, address, event_of(0), ticks);
      if (random() % 5 == 0 || (target != address && sizes.count(target) != 0)) {
        blocks.apply(Operation::kKeepInner, address, event_of(0), ticks);
      } else {
        const uint64_t size = random() % 900;
        blocks.apply(Operation::kResizeInner, target, event_of(size), ticks);
        live = live - at->second + size;
        total += size;
        sizes.erase(at);
        sizes[target] = size;
      }
    }
    peak = std::max(peak, live);
    REQUIRE(book.sites.totals().live.bytes == live);
  }
  CHECK(book.sites.totals().peak.bytes == peak);
  CHECK(book.sites.total().bytes == total);
  CHECK(book.sites.totals().live.blocks == sizes.size());
  CHECK(blocks.unmatched() == 0);
}

}  // namespace
}  // namespace heapprof::cli
