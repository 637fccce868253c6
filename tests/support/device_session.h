// tests/support/device_session.h: a collector whose rings are written by a test, and the devices of what it recorded.
//
// finish() fails the test where the recording is not sound.
#pragma once

#include "cli/collect/clock.h"
#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace heapprof::test {

class DeviceSession {
 public:
  explicit DeviceSession(bool is_fork = false, uint64_t trace_events = cli::kDefaultTraceEvents) {
    cli::CollectorOptions options;
    options.clock_mode = wire::ClockMode::kTsc;
    options.fence_mode = wire::FenceMode::kProducerFence;
    options.trace_events = trace_events;
    options.patience_ns = 3'600'000'000'000;
    collector_ = std::move(cli::ProcessCollector::create(options)).value();
    agent_ = std::make_unique<FakeAgent>(collector_->arena_fd());
    collector_->start(wire::Hello{}, {::getpid(), is_fork, "/proc/self/exe"});
  }
  RingBuilder claim(uint32_t thread_id) {
    RingBuilder ring = agent_->claim();
    ring.open(thread_id, next_stamp());
    return ring;
  }
  static uint64_t next_stamp() { return cli::read_ticks(wire::ClockMode::kTsc); }
  const cli::Recording& finish() {
    collector_->drain_to_end();
    recording_ = collector_->finish();
    for (const std::string& error : recording_.consistency_errors) FAIL_CHECK(error);
    CHECK(recording_.run.counters.corrupt_records == 0);
    return recording_;
  }
  const cli::RecordedDevice& device(const std::string& name) const {
    for (const cli::RecordedDevice& device : recording_.devices) {
      if (device.name == name) return device;
    }
    FAIL("no device " + name);
    return recording_.devices[0];
  }

 private:
  std::unique_ptr<cli::ProcessCollector> collector_;
  std::unique_ptr<FakeAgent> agent_;
  cli::Recording recording_;
};

}  // namespace heapprof::test
