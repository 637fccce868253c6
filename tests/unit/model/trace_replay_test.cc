// tests/unit/model/trace_replay_test.cc: whatever a trace says, what is replayed from it leads back event by event.
#include "cli/model/analysis/trace_replay.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

namespace heapprof::cli {
namespace {

struct TraceMaker {
  DeviceTrace trace;
  TraceMaker() {
    trace.devices = {"cuda:0", "cuda:0/tensors"};
    trace.most_events = 1000;
  }
  uint32_t memory(uint32_t device, uint64_t address, uint64_t size_bytes) {
    trace.memory.push_back({device, address, size_bytes, 0});
    return static_cast<uint32_t>(trace.memory.size() - 1);
  }
  void event(TraceAction action, uint32_t device, uint64_t address, uint64_t size_bytes, bool is_segment = false) {
    trace.events.push_back({0, action, is_segment, memory(device, address, size_bytes), 0, 0});
  }
  void live(uint32_t device, uint64_t address, uint64_t size_bytes, bool is_mapping = false, bool is_segment = false) {
    trace.live.push_back({memory(device, address, size_bytes), is_mapping, is_segment});
  }
};

std::vector<StateAction> actions_of(const DeviceState& state) {
  std::vector<StateAction> actions;
  for (const StateEvent& event : state.events) actions.push_back(event.action);
  return actions;
}

TEST_CASE("memory in which a tensor has lain is a segment, other memory is one of one block") {
  TraceMaker maker;
  maker.event(TraceAction::kBegin, 0, 0x1000, 0x1000);  // PyTorch's
  maker.event(TraceAction::kBegin, 1, 0x1000, 0x200);   // in it
  maker.event(TraceAction::kBegin, 0, 0x8000, 100);     // somebody else's
  maker.event(TraceAction::kEnd, 0, 0x8000, 100);
  maker.event(TraceAction::kBegin, 1, 0x1400, 0x100);
  maker.live(0, 0x1000, 0x1000, false, true);
  maker.live(1, 0x1000, 0x200);
  maker.live(1, 0x1400, 0x100);
  const std::vector<DeviceState> states = replay_trace(maker.trace, "");
  REQUIRE(states.size() == 1);
  CHECK(states[0].name == "cuda:0");
  REQUIRE(states[0].segments.size() == 1);
  CHECK(states[0].segments[0].size_bytes == 0x1000);
  REQUIRE(states[0].segments[0].blocks.size() == 2);
  CHECK(states[0].segments[0].blocks[1].address == 0x1400);
  CHECK(actions_of(states[0]) == std::vector<StateAction>{StateAction::kSegmentBegin, StateAction::kBlockBegin,
                                                          StateAction::kSegmentBegin, StateAction::kBlockBegin,
                                                          StateAction::kBlockEnd, StateAction::kSegmentEnd,
                                                          StateAction::kBlockBegin});
}

TEST_CASE("mappings side by side are one segment that grows, with a tensor across two of them") {
  TraceMaker maker;
  maker.event(TraceAction::kMap, 0, 0x1000, 0x1000);
  maker.event(TraceAction::kMap, 0, 0x2000, 0x1000);
  maker.event(TraceAction::kBegin, 1, 0x1800, 0x1000);
  maker.live(0, 0x1000, 0x1000, true, true);
  maker.live(0, 0x2000, 0x1000, true, true);
  maker.live(1, 0x1800, 0x1000);
  const std::vector<DeviceState> states = replay_trace(maker.trace, "cuda:0/tensors");
  REQUIRE(states.size() == 1);
  REQUIRE(states[0].segments.size() == 1);
  CHECK(states[0].segments[0].grows);
  CHECK(states[0].segments[0].size_bytes == 0x2000);
  CHECK(states[0].segments[0].blocks.size() == 1);
  CHECK(actions_of(states[0]) ==
        std::vector<StateAction>{StateAction::kSegmentMap, StateAction::kSegmentMap, StateAction::kBlockBegin});
}

TEST_CASE("without tensors each mapping is a segment of one block") {
  TraceMaker maker;
  maker.trace.devices = {"cuda:0"};
  maker.event(TraceAction::kMap, 0, 0x1000, 0x1000);
  maker.live(0, 0x1000, 0x1000, true);
  maker.live(0, 0x2000, 0x1000, true);
  const std::vector<DeviceState> states = replay_trace(maker.trace, "");
  REQUIRE(states.size() == 1);
  CHECK(states[0].segments.size() == 2);
  CHECK(actions_of(states[0]) == std::vector<StateAction>{StateAction::kSegmentBegin, StateAction::kBlockBegin});
}

TEST_CASE("a tensor is refused with what the driver said just before") {
  TraceMaker maker;
  maker.event(TraceAction::kRefuse, 1, 4096, 0x100);  // its own allocator's rest
  maker.event(TraceAction::kRefuse, 0, 77, 0x1000);
  maker.event(TraceAction::kRefuse, 1, 4096, 0x100);
  maker.event(TraceAction::kBegin, 0, 0x1000, 0x1000);
  maker.event(TraceAction::kRefuse, 1, 4096, 0x100);
  const auto free_bytes_of = [&maker] {
    std::vector<uint64_t> free_bytes;
    const std::vector<DeviceState> states = replay_trace(maker.trace, "");
    for (const StateEvent& event : states.at(0).events) {
      if (event.action == StateAction::kRefuse) free_bytes.push_back(event.free_bytes);
    }
    return free_bytes;
  };
  CHECK(free_bytes_of() == std::vector<uint64_t>{kFreeNotKnown, 77, 77, 77});
  maker.live(0, 0x1000, 0x1000);  // now that the memory is there at the end, its begin is one that happened
  CHECK(free_bytes_of() == std::vector<uint64_t>{kFreeNotKnown, 77, 77, kFreeNotKnown});
}

TEST_CASE("what cannot be drawn as a double is left out") {
  TraceMaker maker;
  maker.live(0, (uint64_t{1} << 53) - 10, 11);
  maker.live(0, UINT64_MAX - 3, 100);
  maker.live(0, 0x1000, UINT64_MAX);
  maker.live(0, 0x3000, 0);
  maker.live(0, (uint64_t{1} << 53) - 10, 10);
  CHECK(replay_trace(maker.trace, "")[0].segments.size() == 1);
}

// What a viewer does, by the words of the header.
class Viewer {
 public:
  explicit Viewer(const DeviceState& state) {
    for (const StateSegment& segment : state.segments) {
      put(&bytes_in_segments_, segment.address, segment.size_bytes);
      for (const StateBlock& block : segment.blocks) put_block(block.address, block.size_bytes);
    }
  }
  void take_back(StateAction action, const TracedMemory& memory) {
    switch (action) {
      case StateAction::kSegmentEnd:
      case StateAction::kSegmentUnmap: return put(&bytes_in_segments_, memory.address, memory.size_bytes);
      case StateAction::kSegmentBegin:
      case StateAction::kSegmentMap:
        for (uint64_t i = 0; i < memory.size_bytes; ++i) CHECK(bytes_in_blocks_.count(memory.address + i) == 0);
        return take(&bytes_in_segments_, memory.address, memory.size_bytes);
      case StateAction::kBlockEnd: return put_block(memory.address, memory.size_bytes);
      case StateAction::kBlockBegin: return take(&bytes_in_blocks_, memory.address, memory.size_bytes);
      case StateAction::kRefuse: return;
    }
  }

 private:
  using Bytes = std::map<uint64_t, bool>;
  static void put(Bytes* bytes, uint64_t address, uint64_t size_bytes) {
    REQUIRE(size_bytes != 0);
    for (uint64_t i = 0; i < size_bytes; ++i) REQUIRE(bytes->try_emplace(address + i, true).second);
  }
  static void take(Bytes* bytes, uint64_t address, uint64_t size_bytes) {
    for (uint64_t i = 0; i < size_bytes; ++i) REQUIRE(bytes->erase(address + i) == 1);
  }
  void put_block(uint64_t address, uint64_t size_bytes) {
    put(&bytes_in_blocks_, address, size_bytes);
    for (uint64_t i = 0; i < size_bytes; ++i) REQUIRE(bytes_in_segments_.count(address + i) == 1);
  }

  Bytes bytes_in_segments_;
  Bytes bytes_in_blocks_;
};

TEST_CASE("whatever the trace says, each event that is left fits") {
  size_t fitting = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    TraceMaker maker;
    const auto any = [&random](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
    const auto address = [&any] { return 64 + any(8) * 16; };
    const auto size = [&any] { return 16 * any(4); };
    for (uint32_t i = any(12); i > 0; --i) maker.live(any(2), address(), size(), any(2) != 0, any(2) != 0);
    for (uint32_t i = any(60); i > 0; --i)
      maker.event(static_cast<TraceAction>(any(kTraceActions)), any(2), address(), size(), any(2) != 0);
    for (const DeviceState& state : replay_trace(maker.trace, "")) {
      Viewer viewer(state);
      fitting += state.events.size();
      for (auto event = state.events.rbegin(); event != state.events.rend(); ++event)
        viewer.take_back(event->action, maker.trace.memory[maker.trace.events[event->event].memory]);
    }
  }
  CHECK(fitting > 1000);
}

}  // namespace
}  // namespace heapprof::cli
