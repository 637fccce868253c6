// tests/unit/collect/device_use_test.cc: what NVML says, beside the books of that moment.
#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace heapprof::cli {
namespace {

constexpr uint32_t kDevice = wire::kFirstCudaDevice;

TEST_CASE("what is in use on a device is kept beside what was seen at the largest sample") {
  CollectorOptions options;
  options.clock_mode = wire::ClockMode::kSequence;
  auto created = ProcessCollector::create(options);
  REQUIRE(created.ok());
  ProcessCollector& collector = **created;
  test::FakeAgent agent(collector.arena_fd());
  collector.start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  agent.add_note(wire::NoteKind::kDevice, kDevice, "GPU-a 0000:01:00.0 1000000 A product");
  agent.add_note(wire::NoteKind::kDevice, kDevice + 1, "GPU-b 0000:02:00.0 1000000 A product");
  CHECK(collector.device_uuids().empty());
  test::RingBuilder ring = agent.claim();
  ring.open(77, 1);
  const auto allocate = [&](uint32_t device, uint64_t address, uint64_t size_bytes, uint64_t stamp) {
    agent.control().sequence.store(stamp + 1);
    ring.device_next(wire::DeviceOperation::kAllocate, device);
    ring.malloc(address, size_bytes, {0x10}, stamp);
    collector.drain();
  };
  allocate(kDevice, 0x10000, 100, 1);
  CHECK(collector.device_uuids() == std::vector<std::string>{"GPU-a", "GPU-b"});
  collector.note_device_use("GPU-a", 900, true);   // not this process's own: until that is known
  collector.note_device_use("GPU-a", 350, false);  // its second allocation is there already, and not yet told
  allocate(kDevice, 0x20000, 200, 2);
  collector.note_device_use("GPU-a", 350, false);
  collector.note_device_use("GPU-a", 950, true);
  allocate(kDevice, 0x30000, 400, 3);
  collector.note_device_use("GPU-a", 340, false);
  collector.note_device_use("GPU-none", 340, false);
  allocate(kDevice + 1, 0x40000, 7, 4);
  collector.note_use_missing("GPU-b", "a reason");
  collector.note_use_missing("GPU-a", "too late");
  collector.drain_to_end();
  const Recording recording = collector.finish();
  REQUIRE(recording.devices.size() == 3);
  const DeviceUse& use = recording.devices[1].use;
  CHECK(use.samples == 3);
  CHECK(use.max_bytes == 350);
  CHECK(use.seen_at_max_bytes == 300);
  CHECK_FALSE(use.is_of_all);
  CHECK(use.missing.empty());
  CHECK(recording.devices[2].use.samples == 0);
  CHECK(recording.devices[2].use.missing == "a reason");
}

}  // namespace
}  // namespace heapprof::cli
