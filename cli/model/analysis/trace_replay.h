// cli/model/analysis/trace_replay.h: a trace of device memory as viewers of an allocator's state take it: segments,
// blocks in them, and events that lead from one state to the next.
//
// A viewer shows the state at an event by taking back, from the end, all that came after it. What does not fit (a block
// in no segment, an end of what is there still) stops it or shows nonsense. So the trace is taken back here first.
//
// Guarantees
//  - Taken back from the segments at the end, every event fits: what ends is not there afterwards, what begins is, no
//    two blocks or segments overlap, and each block lies in segments. What does not fit in the profile is left out.
//  - Addresses and their ends are below 2^53: viewers hold them as doubles.
// Trust:    the trace is a file's; nothing but its indexes has been checked.
#pragma once

#include "cli/model/profile/device_trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class StateAction : uint8_t {
  kSegmentBegin,
  kSegmentEnd,
  kSegmentMap,    // a part of a segment that grows begins
  kSegmentUnmap,  // such a part ends
  kBlockBegin,
  kBlockEnd,
  kRefuse,
};

struct StateEvent {
  StateAction action = StateAction::kRefuse;
  uint32_t event = 0;                   // its place in DeviceTrace::events
  uint64_t free_bytes = kFreeNotKnown;  // of a refusal: what the device had free
};

struct StateBlock {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint32_t node = 0;
};

struct StateSegment {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint32_t node = 0;
  bool grows = false;              // it is made of mappings
  std::vector<StateBlock> blocks;  // by address; gaps are between them
};

// A device with the tensors inside of it. Memory of the driver that no tensor has lain in is a segment that is one
// block.
struct DeviceState {
  std::string name;
  std::vector<StateSegment> segments;  // at the end, by address
  std::vector<StateEvent> events;      // in order
};

// device: that one; empty: all of them, in the trace's order. "cuda:0/tensors" is a part of "cuda:0", and means it.
std::vector<DeviceState> replay_trace(const DeviceTrace& trace, std::string_view device);

}  // namespace heapprof::cli
