// cli/model/profile/device_trace.h: the newest single events of device memory, and the blocks that were live on devices
// at the end, with their addresses.
//
// Everything else in a profile is a sum by site. Viewers of an allocator's state, such as PyTorch's memory_viz, draw
// single blocks at their addresses and step through events. This is the data for such viewers.
//
// Guarantees
//  - Bounded: kMostTraceEvents events and kMostTraceBlocks blocks; those that do not fit are counted.
//  - It has only device memory: no events of the host's heap, of mapped pages or of Python objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kDefaultTraceEvents = 10'000;
inline constexpr uint64_t kMostTraceEvents = 1'000'000;
inline constexpr size_t kMostTraceBlocks = 100'000;  // memory of the driver is kept before tensors

enum class TraceAction : uint8_t {
  kBegin,   // memory at the address begins: of the driver, or a tensor inside it
  kEnd,     // the memory ends
  kMap,     // physical memory of the driver is mapped at the address
  kUnmap,   // that mapping ends
  kRefuse,  // memory ran out; the address holds the number of free bytes, or kFreeNotKnown
};
inline constexpr uint64_t kTraceActions = 5;
inline constexpr uint64_t kFreeNotKnown = UINT64_MAX;  // as the address of a refusal: free bytes unknown

// The memory of an event or of a live block. Many events may have the same memory.
struct TracedMemory {
  uint32_t device = 0;  // index into DeviceTrace::devices
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint32_t node = 0;  // where it was allocated, mapped or refused: StackNode in a recording, FrameNode in a profile
};

struct TraceEvent {
  uint64_t at_ns = 0;  // since the start
  TraceAction action = TraceAction::kBegin;
  bool is_segment = false;  // for an end: it was the driver's memory, and a tensor has lain in it
  uint32_t memory = 0;      // index into DeviceTrace::memory
  uint32_t thread = 0;      // kernel thread id
  uint32_t scope = 0;       // the innermost scope of the thread: index into DeviceTrace::scopes + 1; 0: none
};

struct TraceBlock {
  uint32_t memory = 0;
  bool is_mapping = false;
  bool is_segment = false;  // a tensor has lain in it
};

struct DeviceTrace {
  uint64_t most_events = 0;   // the requested limit; 0: no trace was requested
  uint64_t older_events = 0;  // number of older events, which did not fit
  uint64_t left_out_blocks = 0;
  std::vector<std::string> devices;
  std::vector<std::string> scopes;  // paths to a scope: "train > step"
  std::vector<TracedMemory> memory;
  std::vector<TraceEvent> events;  // in the order of the events
  std::vector<TraceBlock> live;    // at the end, by device and address

  bool has_any() const { return !events.empty() || !live.empty(); }
};

// Merges equal entries of memory, and numbers them in the order of their use by events, then by live blocks. Drops
// entries that are not used.
void renumber_traced_memory(DeviceTrace* trace);

}  // namespace heapprof::cli
