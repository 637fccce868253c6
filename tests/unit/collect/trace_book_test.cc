// tests/unit/collect/trace_book_test.cc: the newest events of device memory, from a ring's records to a recording's
// trace.
#include "cli/collect/books/trace_book.h"

#include "tests/support/device_session.h"

#include <catch2/catch.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using test::Stack;
using Operation = wire::DeviceOperation;

constexpr uint32_t kCuda0 = wire::kFirstCudaDevice;
constexpr uint64_t kAnyAddress = 8;
const Stack kStack = {0x10, 0x20};

class Session : public test::DeviceSession {
 public:
  explicit Session(uint64_t most = kDefaultTraceEvents) : DeviceSession(false, most), ring_(claim(7)) {}
  void begin(Operation operation, uint32_t device, uint64_t object, uint64_t address, uint64_t size) {
    ring_.device_next(operation, device, object);
    ring_.malloc(address, size, kStack, next_stamp());
  }
  void end(Operation operation, uint64_t object, uint64_t address, uint32_t device = 0) {
    ring_.device_next(operation, device, object);
    ring_.free(address, next_stamp());
  }
  RingBuilder& ring() { return ring_; }

 private:
  RingBuilder ring_;
};

using Row = std::tuple<std::string, TraceAction, uint64_t, uint64_t, bool>;

std::vector<Row> rows_of(const DeviceTrace& trace) {
  std::vector<Row> rows;
  for (const TraceEvent& event : trace.events) {
    const TracedMemory& memory = trace.memory[event.memory];
    rows.emplace_back(trace.devices[memory.device], event.action, memory.address, memory.size_bytes, event.is_segment);
  }
  return rows;
}

TEST_CASE("a full trace keeps the newest events, and counts the older ones") {
  TraceBook book;
  book.note(TraceAction::kBegin, {1, 1, 1, 1, false}, 1);
  CHECK(book.size() == 0);  // it is off
  book.start(3);
  for (uint64_t i = 1; i <= 8; ++i) book.note(TraceAction::kBegin, {1, i, 1, 1, false}, i);
  std::vector<uint64_t> kept;
  book.for_each([&kept](const TracedEvent& event) { kept.push_back(event.address); });
  CHECK(kept == std::vector<uint64_t>{6, 7, 8});
  CHECK(book.older() == 5);
}

TEST_CASE("the trace has what began and ended on devices, tensors inside them, and what is live at the end") {
  Session session;
  session.ring().malloc(0x1000, 100, kStack, Session::next_stamp());  // the heap's has no trace
  session.begin(Operation::kAllocate, kCuda0, 1, 0x100000, 4096);
  session.begin(Operation::kBeginInner, kCuda0, 0, 0x100200, 512);
  session.begin(Operation::kBeginInner, kCuda0, 0, 0x100400, 1024);
  session.begin(Operation::kBeginInner, wire::kPythonDevice, 0, 0x1000, 32);
  session.end(Operation::kEndInner, 0, 0x100200, kCuda0);
  session.begin(Operation::kAllocate, wire::kPinnedDevice, 1, 0x900000, 77);
  session.end(Operation::kRelease, 0, 0x900000);
  const DeviceTrace& trace = session.finish().trace;
  CHECK(trace.older_events == 0);
  CHECK(rows_of(trace) == std::vector<Row>{{"cuda:0", TraceAction::kBegin, 0x100000, 4096, false},
                                           {"cuda:0/tensors", TraceAction::kBegin, 0x100200, 512, false},
                                           {"cuda:0/tensors", TraceAction::kBegin, 0x100400, 1024, false},
                                           {"cuda:0/tensors", TraceAction::kEnd, 0x100200, 512, false},
                                           {"pinned", TraceAction::kBegin, 0x900000, 77, false},
                                           {"pinned", TraceAction::kEnd, 0x900000, 77, false}});
  REQUIRE(trace.live.size() == 2);
  CHECK(trace.memory[trace.live[0].memory].size_bytes == 4096);
  CHECK(trace.live[0].is_segment);
  CHECK(trace.memory[trace.live[1].memory].size_bytes == 1024);
  for (const TraceEvent& event : trace.events) CHECK(event.thread == 7);
  for (const TracedMemory& memory : trace.memory) CHECK(memory.node != 0);
}

TEST_CASE("a release that the driver refused is an end and a begin in the trace") {
  Session session;
  session.begin(Operation::kAllocate, kCuda0, 1, 0x1000, 10);
  session.end(Operation::kRelease, 0, 0x1000);
  session.end(Operation::kKeep, 0, 0x1000);
  const DeviceTrace& trace = session.finish().trace;
  CHECK(rows_of(trace) == std::vector<Row>{{"cuda:0", TraceAction::kBegin, 0x1000, 10, false},
                                           {"cuda:0", TraceAction::kEnd, 0x1000, 10, false},
                                           {"cuda:0", TraceAction::kBegin, 0x1000, 10, false}});
  CHECK(trace.live.size() == 1);
}

TEST_CASE("the trace has mappings at their addresses, and what ends with its context") {
  Session session;
  session.begin(Operation::kCreateHandle, kCuda0, 77, kAnyAddress, 4096);
  session.begin(Operation::kMap, kCuda0, 77, 0x200000, 4096);
  session.begin(Operation::kAllocate, kCuda0, 5, 0x1000, 10);
  session.end(Operation::kReleaseHandle, 77, kAnyAddress);
  session.begin(Operation::kUnmap, kCuda0, 0, 0x200000, 4096);
  session.end(Operation::kEndContext, 5, kAnyAddress);
  const DeviceTrace& trace = session.finish().trace;
  CHECK(rows_of(trace) == std::vector<Row>{{"cuda:0", TraceAction::kMap, 0x200000, 4096, false},
                                           {"cuda:0", TraceAction::kBegin, 0x1000, 10, false},
                                           {"cuda:0", TraceAction::kUnmap, 0x200000, 4096, false},
                                           {"cuda:0", TraceAction::kEnd, 0x1000, 10, false}});
  CHECK(trace.live.empty());
}

TEST_CASE("a trace of no events keeps no blocks either") {
  Session session(0);
  session.begin(Operation::kAllocate, kCuda0, 1, 0x1000, 10);
  const Recording& recording = session.finish();
  CHECK_FALSE(recording.trace.has_any());
  CHECK(recording.devices[1].totals.leaked_bytes == 10);
}

}  // namespace
}  // namespace heapprof::cli
