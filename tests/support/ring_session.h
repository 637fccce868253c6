// tests/support/ring_session.h: a collector, and an agent whose rings and tables a test writes.
//
// finish() fails the test where the books do not agree.
#pragma once

#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

namespace heapprof::test {

struct RingSession {
  explicit RingSession(wire::ClockMode clock = wire::ClockMode::kSequence) {
    cli::CollectorOptions options;
    options.clock_mode = clock;
    collector = std::move(cli::ProcessCollector::create(options)).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    collector->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  }
  cli::Recording finish() {
    agent->control().sequence.store(1'000'000);
    collector->drain_to_end();
    cli::Recording recording = collector->finish();
    for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
    return recording;
  }

  std::unique_ptr<cli::ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
};

}  // namespace heapprof::test
