// tests/unit/collect/device_ledger_test.cc: from a ring's records to the devices of a recording.
#include "tests/support/device_session.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using test::Stack;
using Operation = wire::DeviceOperation;

constexpr uint32_t kCuda0 = wire::kFirstCudaDevice;
constexpr uint32_t kCuda1 = kCuda0 + 1;
constexpr uint64_t kAnyAddress = 8;
const Stack kStack = {0x10, 0x20};

class Session : public test::DeviceSession {
 public:
  void begin(RingBuilder* ring, Operation operation, uint32_t device, uint64_t object, uint64_t address, uint64_t size,
             const Stack& stack = kStack) {
    ring->device_next(operation, device, object);
    ring->malloc(address, size, stack, next_stamp());
  }
  void end(RingBuilder* ring, Operation operation, uint64_t object, uint64_t address) {
    ring->device_next(operation, 0, object);
    ring->free(address, next_stamp());
  }
};

TEST_CASE("each device has books of its own, beside the heap's") {
  Session session;
  RingBuilder ring = session.claim(7);
  ring.malloc(0x1000, 100, kStack, session.next_stamp());
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x1000, 5000);  // the same address is another block there
  session.begin(&ring, Operation::kAllocate, kCuda1, 1, 0x2000, 7000);
  session.end(&ring, Operation::kRelease, 0, 0x1000);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x3000, 1000, {0x10, 0x21});
  const Recording& recording = session.finish();
  REQUIRE(recording.devices.size() == 3);
  CHECK(recording.devices[0].name == "host");
  CHECK(recording.devices[0].totals.leaked_bytes == 100);
  CHECK(recording.devices[0].sites.size() == 1);
  const RecordedDevice& first = session.device("cuda:0");
  CHECK(first.totals.total_bytes == 6000);
  CHECK(first.totals.peak_bytes == 5000);
  CHECK(first.totals.leaked_bytes == 1000);
  REQUIRE(first.sites.size() == 2);
  CHECK(first.sites[0].numbers.peak_bytes == 5000);
  CHECK(first.sites[1].numbers.peak_bytes == 0);
  CHECK(session.device("cuda:1").totals.leaked_bytes == 7000);
}

TEST_CASE("a context that ends takes what was allocated in it") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x1000, 10);
  session.begin(&ring, Operation::kAllocate, kCuda0, 2, 0x2000, 20);
  session.begin(&ring, Operation::kAllocate, wire::kPinnedDevice, 1, 0x3000, 30);
  session.begin(&ring, Operation::kAllocate, kCuda0, 0, 0x4000, 40);  // a pool's
  session.end(&ring, Operation::kEndContext, 1, kAnyAddress);
  session.finish();
  CHECK(session.device("cuda:0").totals.leaked_bytes == 60);
  CHECK(session.device("cuda:0").totals.temporary_blocks == 0);
  CHECK(session.device("pinned").totals.leaked_bytes == 0);
}

TEST_CASE("what is allocated while a context ends is another's") {
  Session session;
  RingBuilder ring = session.claim(7);
  RingBuilder other = session.claim(8);
  const auto end_context = [&](wire::ContextEnd end) {
    ring.device_next(Operation::kEndContext, static_cast<uint32_t>(end), 5);
    ring.free(kAnyAddress, session.next_stamp());
  };
  session.begin(&ring, Operation::kAllocate, kCuda0, 5, 0x1000, 100);
  session.begin(&ring, Operation::kAllocate, kCuda0, 5, 0x2000, 200);
  end_context(wire::ContextEnd::kMayEnd);
  SECTION("of the same number, at an address that has become free") {
    session.begin(&other, Operation::kAllocate, kCuda0, 5, 0x1000, 4000);
    session.begin(&other, Operation::kAllocate, kCuda0, 5, 0x3000, 5000);
    end_context(wire::ContextEnd::kHasEnded);
    const Recording& recording = session.finish();
    CHECK(recording.run.counters.unmatched_device_events == 0);
    CHECK(session.device("cuda:0").totals.leaked_bytes == 9000);
    CHECK(session.device("cuda:0").totals.temporary_blocks == 0);
  }
  SECTION("and a call that failed ends nothing") {
    end_context(wire::ContextEnd::kLivesOn);
    session.begin(&ring, Operation::kAllocate, kCuda0, 5, 0x1000, 100);  // the end of the block there was never seen
    const Recording& recording = session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 300);
    CHECK(recording.run.counters.unmatched_device_events == 1);
  }
}

TEST_CASE("memory behind a handle ends with its last reference and mapping") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kCreateHandle, kCuda0, 9, kAnyAddress, 4096);
  session.begin(&ring, Operation::kMap, 0, 9, 0x10000, 2048);
  session.begin(&ring, Operation::kMap, 0, 9, 0x10800, 2048);
  session.end(&ring, Operation::kReleaseHandle, 9, kAnyAddress);
  SECTION("one mapping is left") {
    session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 2048);
    session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 4096);
  }
  SECTION("none is left") {
    session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 4096);
    session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 0);
  }
  SECTION("a reference taken by address is left") {
    session.end(&ring, Operation::kRetainHandle, 9, kAnyAddress);
    session.begin(&ring, Operation::kUnmap, 0, 0, 8, UINT64_MAX);
    session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 4096);
  }
}

TEST_CASE("a release that failed is taken back") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x1000, 500);
  session.end(&ring, Operation::kRelease, 0, 0x1000);
  session.end(&ring, Operation::kKeep, 0, 0x1000);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x2000, 600);
  session.finish();
  const RecordedDevice& device = session.device("cuda:0");
  CHECK(device.totals.total_bytes == 1100);
  CHECK(device.totals.peak_bytes == 1100);
  CHECK(device.totals.leaked_blocks == 2);
  CHECK(device.totals.temporary_blocks == 0);
}

TEST_CASE("an unmapping that failed is taken back") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kCreateHandle, kCuda0, 9, kAnyAddress, 4096);
  session.begin(&ring, Operation::kMap, 0, 9, 0x10000, 2048);
  session.begin(&ring, Operation::kMap, 0, 9, 0x10800, 2048);
  session.end(&ring, Operation::kReleaseHandle, 9, kAnyAddress);  // only mappings hold it
  session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 4096);
  session.end(&ring, Operation::kKeepMappings, 0, 0x10000);
  SECTION("all of it is as before") {
    const Recording& recording = session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 4096);
    CHECK(session.device("cuda:0").totals.total_bytes == 4096);
    CHECK(recording.run.counters.unmatched_device_events == 0);
  }
  SECTION("and ends when it is unmapped") {
    session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 2048);
    session.begin(&ring, Operation::kUnmap, 0, 0, 0x10800, 2048);
    session.end(&ring, Operation::kKeepMappings, 0, 0x99000);  // of the last one only
    session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 4096);
    session.finish();
    CHECK(session.device("cuda:0").totals.leaked_bytes == 0);
    CHECK(session.device("cuda:0").totals.peak_bytes == 4096);
  }
}

TEST_CASE("a close of imported memory that failed is taken back") {
  Session session;
  RingBuilder ring = session.claim(7);
  for (int i = 0; i < 2; ++i) session.begin(&ring, Operation::kAllocate, wire::kImportedDevice, 0, 0x1000, 500);
  session.end(&ring, Operation::kRelease, 0, 0x1000);
  session.end(&ring, Operation::kKeep, 0, 0x1000);
  session.end(&ring, Operation::kRelease, 0, 0x1000);
  session.finish();
  CHECK(session.device("imported").totals.leaked_bytes == 500);
  CHECK(session.device("imported").totals.total_blocks == 1);
}

TEST_CASE("external memory ends with its object and what is mapped of it, and a free that failed is taken back") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kCreateHandle, wire::kImportedDevice, 0x77, 8, 3000);
  session.begin(&ring, Operation::kMap, 0, 0x77, 0x100000, 1000);
  session.end(&ring, Operation::kReleaseHandle, 0x77, 8);
  session.end(&ring, Operation::kRelease, 0, 0x100000);
  session.end(&ring, Operation::kKeep, 0, 0x100000);
  SECTION("still mapped") {
    session.finish();
    CHECK(session.device("imported").totals.leaked_bytes == 3000);
  }
  SECTION("freed, and a failed free of somebody else's takes nothing back") {
    session.end(&ring, Operation::kRelease, 0, 0x100000);
    session.end(&ring, Operation::kRelease, 0, 0x200000);
    session.end(&ring, Operation::kKeep, 0, 0x200000);
    session.finish();
    CHECK(session.device("imported").totals.leaked_bytes == 0);
  }
  CHECK(session.device("imported").totals.total_blocks == 1);
}

TEST_CASE("a failed free at the runtime does not take back an unmapping before it") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kCreateHandle, wire::kFirstCudaDevice, 0x77, 8, 3000);
  session.begin(&ring, Operation::kMap, 0, 0x77, 0x100000, 3000);
  session.end(&ring, Operation::kReleaseHandle, 0x77, 8);
  session.begin(&ring, Operation::kUnmap, 0, 0, 0x100000, 3000);
  session.end(&ring, Operation::kReleaseUnseen, 0, 0x200000);
  session.end(&ring, Operation::kKeep, 0, 0x200000);
  session.finish();
  CHECK(session.device("cuda:0").totals.peak_bytes == 3000);
  CHECK(session.device("cuda:0").totals.leaked_bytes == 0);
}

TEST_CASE("what the driver holds is what it said last") {
  Session session;
  RingBuilder ring = session.claim(7);
  const auto hold = [&](wire::Holding holding, uint32_t sequence, uint64_t bytes, uint64_t most, uint32_t device) {
    ring.device_next(Operation::kHold, device, wire::pack_holding(holding, sequence, false, bytes));
    ring.free(wire::pack_free(most), session.next_stamp());
  };
  hold(wire::Holding::kPools, 8191, 1000, 1000, kCuda0);
  session.begin(&ring, Operation::kAllocateFromPool, kCuda0, 0, 0x1000, 300);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x2000, 7000);  // of no pool
  hold(wire::Holding::kPools, 1, 400, 1500, kCuda0);                    // the number has wrapped
  hold(wire::Holding::kPools, 0, 1200, 1200, kCuda0);                   // asked earlier, told later
  hold(wire::Holding::kGraphsReserved, 1, 64, 64, kCuda1);
  hold(wire::Holding::kGraphsUsed, 2, 50, 60, kCuda1);
  session.end(&ring, Operation::kGraphAddress, 0, 0x9000);
  session.end(&ring, Operation::kRelease, 0, 0x9000);  // of a graph
  const Recording& recording = session.finish();
  CHECK(recording.run.counters.unmatched_device_events == 0);
  const HeldMemory& pools = session.device("cuda:0").held;
  CHECK(pools.pools_bytes == 400);
  CHECK(pools.pools_peak_bytes == 1500);
  CHECK(pools.pools_used_bytes == 300);
  CHECK(pools.pools_used_peak_bytes == 300);
  CHECK(pools.pools_idle_peak_bytes == 1000);
  CHECK(!pools.is_partial);
  const HeldMemory& graphs = session.device("cuda:1").held;
  CHECK(graphs.graphs_bytes == 64);
  CHECK(graphs.graphs_used_bytes == 50);
  CHECK(graphs.graphs_used_peak_bytes == 60);
}

TEST_CASE("what never began changes nothing by ending") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.end(&ring, Operation::kRelease, 0, 0x1000);
  session.end(&ring, Operation::kKeep, 0, 0x1000);
  session.end(&ring, Operation::kReleaseHandle, 5, kAnyAddress);
  session.end(&ring, Operation::kKeepHandle, 5, kAnyAddress);
  session.end(&ring, Operation::kRelease, 0, 0x2000);
  session.end(&ring, Operation::kReleaseHandle, 6, kAnyAddress);
  session.end(&ring, Operation::kRetainHandle, 7, kAnyAddress);
  session.begin(&ring, Operation::kMap, 0, 5, 0x10000, 2048);
  session.begin(&ring, Operation::kUnmap, 0, 0, 0x10000, 2048);
  session.end(&ring, Operation::kEndContext, 5, kAnyAddress);
  const Recording& recording = session.finish();
  CHECK(recording.devices.size() == 1);
  CHECK(recording.run.counters.unmatched_device_events ==
        4);  // all but the unmapping, the context, and what the driver refused
}

TEST_CASE("refusals at one time keep their order") {
  Session session;
  RingBuilder ring = session.claim(7);
  const uint64_t stamp = session.next_stamp();
  for (const uint64_t size : {3, 2, 5, 2, 9}) {  // one stack a size
    ring.device_next(Operation::kRefuse, kCuda0, wire::pack_refusal(0, true));
    ring.malloc(wire::pack_free(1), size, {0x10 * size}, stamp);
  }
  session.finish();
  std::vector<Refusal> refusals = session.device("cuda:0").refusals;
  REQUIRE(refusals.size() == 4);
  const auto sizes_by = [&refusals](uint64_t Refusal::*time) {
    std::sort(refusals.begin(), refusals.end(),
              [time](const Refusal& a, const Refusal& b) { return a.*time < b.*time; });
    std::string sizes;
    for (const Refusal& refusal : refusals) sizes += std::to_string(refusal.size_bytes);
    return sizes;
  };
  CHECK(sizes_by(&Refusal::first_ns) == "3259");
  CHECK(sizes_by(&Refusal::last_ns) == "3529");
  CHECK(refusals[0].first_ns == refusals[0].last_ns);
  CHECK(refusals[2].last_ns - refusals[0].first_ns < 10);
}

TEST_CASE("what only the runtime said is counted, and ends only as it began") {
  Session session;
  RingBuilder ring = session.claim(7);
  session.begin(&ring, Operation::kAllocate, kCuda0, 1, 0x10000, 5000);
  session.begin(&ring, Operation::kAllocateUnseen, kCuda0, 0, 0x11000, 100);  // a piece of it
  session.begin(&ring, Operation::kAllocateUnseen, kCuda0, 0, 0x20000, 300);
  session.begin(&ring, Operation::kAllocateUnseen, kCuda0, 0, 0x30000, 400);
  session.end(&ring, Operation::kReleaseUnseen, 0, 0x10000);  // the driver's: not ended
  session.end(&ring, Operation::kKeep, 0, 0x10000);
  session.end(&ring, Operation::kReleaseUnseen, 0, 0x20000);
  session.end(&ring, Operation::kKeep, 0, 0x20000);  // it failed
  session.end(&ring, Operation::kReleaseUnseen, 0, 0x30000);
  const Recording& recording = session.finish();
  const RecordedDevice& device = session.device("cuda:0");
  CHECK(device.totals.total_bytes == 5700);
  CHECK(device.totals.leaked_bytes == 5300);
  CHECK(device.unseen.runtime_bytes == 700);
  CHECK(device.unseen.runtime_blocks == 2);
  CHECK(recording.run.counters.unmatched_device_events == 0);
}

TEST_CASE("an estimate is what was taken, less what was counted meanwhile") {
  constexpr uint64_t kModules = static_cast<uint64_t>(wire::EstimateKind::kModules);
  constexpr uint64_t kContext = static_cast<uint64_t>(wire::EstimateKind::kContext);
  Session session;
  RingBuilder ring = session.claim(7);
  RingBuilder other = session.claim(8);
  const auto begin_estimate = [&](uint64_t free_bytes) {
    ring.device_next(Operation::kBeginEstimate, kCuda0, wire::pack_free(free_bytes));
    ring.free(kAnyAddress, session.next_stamp());
  };
  const auto end_estimate = [&](uint64_t kind, uint64_t free_bytes) {
    session.begin(&ring, Operation::kEndEstimate, kCuda0, kind, wire::pack_free(free_bytes), 100'000);
  };
  begin_estimate(wire::kFreeUnknown);
  end_estimate(kContext, 60'000);  // 40,000 of 100,000: a bound
  begin_estimate(60'000);
  session.begin(&other, Operation::kAllocate, kCuda0, 1, 0x1000, 7000);  // by another thread
  end_estimate(kModules, 50'000);
  begin_estimate(50'000);
  end_estimate(kModules, 55'000);  // somebody else gave memory back
  end_estimate(kModules, 0);       // never began
  session.finish();
  const RecordedDevice& device = session.device("cuda:0");
  CHECK(device.totals.total_bytes == 7000);
  REQUIRE(device.unseen.estimates.size() == 2);
  CHECK(device.unseen.estimates[0].what == "context");
  CHECK(device.unseen.estimates[0].size_bytes == 40'000);
  CHECK(device.unseen.estimates[0].bound_count == 1);
  CHECK(device.unseen.estimates[1].what == "modules");
  CHECK(device.unseen.estimates[1].size_bytes == 3000);
  CHECK(device.unseen.estimates[1].count == 2);
  CHECK(device.unseen.estimates[1].bound_count == 0);
}

TEST_CASE("threads hand device memory on to each other") {
  Session session;
  RingBuilder first = session.claim(7);
  RingBuilder second = session.claim(8);
  for (uint64_t i = 1; i <= 1000; ++i) {
    session.begin(&first, Operation::kAllocate, kCuda0, 1, 0x1000 * i, 100);
    session.end(&second, Operation::kRelease, 0, 0x1000 * i);
  }
  session.finish();
  CHECK(session.device("cuda:0").totals.peak_bytes == 100);
  CHECK(session.device("cuda:0").totals.leaked_blocks == 0);
  CHECK(session.device("cuda:0").totals.total_blocks == 1000);
}

}  // namespace
}  // namespace heapprof::cli
