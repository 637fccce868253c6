// cli/model/analysis/trace_replay.h: turns a trace of device memory into the form that viewers of an allocator's state
// take: segments, blocks in them, and the events between the states.
//
// To show the state at an event, a viewer starts from the end and undoes all later events. If it meets an inconsistency
// (a block in no segment, an end event for memory that is still live), it stops or shows nonsense. So this code undoes
// the trace first.
//
// Guarantees
//  - If the events are undone one by one, starting from the segments at the end, each fits the state. Memory that an
//    end event frees is not live after that event; memory that a begin event creates is live after it. No two blocks or
//    segments overlap, and each block lies in segments. Events of the profile that do not fit are left out.
//  - Addresses and their ends are below 2^53: viewers hold them as doubles.
// Trust:    the trace comes from a file; only its indexes have been checked.
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
  kSegmentMap,    // a part of a growing segment begins
  kSegmentUnmap,  // such a part ends
  kBlockBegin,
  kBlockEnd,
  kRefuse,
};

struct StateEvent {
  StateAction action = StateAction::kRefuse;
  uint32_t event = 0;                   // index into DeviceTrace::events
  uint64_t free_bytes = kFreeNotKnown;  // for a refusal: free bytes of the device
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

// A device with the tensors inside it. Driver memory in which no tensor has lain is a segment with a single block.
struct DeviceState {
  std::string name;
  std::vector<StateSegment> segments;  // at the end, by address
  std::vector<StateEvent> events;      // in order
};

// device: only that one; empty: all, in the trace's order. "cuda:0/tensors" is a part of "cuda:0", and selects all of
// "cuda:0".
std::vector<DeviceState> replay_trace(const DeviceTrace& trace, std::string_view device);

}  // namespace heapprof::cli
