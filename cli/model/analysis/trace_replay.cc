// cli/model/analysis/trace_replay.cc: the state at the end is built first; then the events are undone one by one. An
// event that fits the state is kept. An event that does not fit is left out, and does not change the state.
//
// Driver memory is either a segment of the tensors' allocator or an unrelated block. Which of them it is, is known when
// it ends: a segment is memory in which a tensor has lain. If the device has tensors, all mappings count as the
// allocator's, because a part of its segment may never have had a tensor. If a tensor lies in memory whose allocation
// by the driver was not seen, the tensor becomes a segment of its own.
#include "cli/model/analysis/trace_replay.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr uint64_t kEndOfAddresses = uint64_t{1} << 53;
constexpr std::string_view kInside = "/tensors";

std::string_view outer_name(std::string_view device) {
  const bool is_inner = device.size() > kInside.size() && device.substr(device.size() - kInside.size()) == kInside;
  return is_inner ? device.substr(0, device.size() - kInside.size()) : device;
}

class Replay {
 public:
  // driver and tensors: indexes into trace.devices; kNone: no such device
  static constexpr uint32_t kNone = UINT32_MAX;
  Replay(const DeviceTrace& trace, uint32_t driver, uint32_t tensors)
      : trace_(trace), driver_(driver), tensors_(tensors) {}

  void run(DeviceState* state) {
    for (const TraceBlock& block : trace_.live) {
      const TracedMemory& memory = trace_.memory[block.memory];
      if (memory.device == driver_) add_piece(memory, kind_of(block.is_mapping, block.is_segment));
    }
    for (const TraceBlock& block : trace_.live) {
      const TracedMemory& memory = trace_.memory[block.memory];
      if (memory.device == tensors_ && !add_tensor(memory)) add_piece(memory, Kind::kBlock);
    }
    write_segments(&state->segments);
    for (size_t i = trace_.events.size(); i-- > 0;) take_back(static_cast<uint32_t>(i));
    state->events.assign(events_.rbegin(), events_.rend());
    find_free_bytes(&state->events);
  }

 private:
  enum class Kind {
    kSegment,  // of the allocator: a driver allocation
    kPart,     // of a growing segment of the allocator: a mapping
    kBlock,    // a segment with a single block
  };
  struct Piece {
    uint64_t size_bytes;
    uint32_t node;
    Kind kind;
  };
  struct Tensor {
    uint64_t size_bytes;
    uint32_t node;
  };

  Kind kind_of(bool is_mapping, bool is_segment) const {
    if (is_mapping) return tensors_ == kNone ? Kind::kBlock : Kind::kPart;
    return is_segment ? Kind::kSegment : Kind::kBlock;
  }

  static bool is_range(const TracedMemory& memory) {
    return memory.size_bytes != 0 && memory.address < kEndOfAddresses &&
           memory.size_bytes <= kEndOfAddresses - memory.address;
  }

  // Whether no entry of the table overlaps the memory. pre: is_range(memory)
  template <typename Table>
  static bool is_free(const Table& table, const TracedMemory& memory) {
    const auto next = table.lower_bound(memory.address);
    if (next != table.end() && next->first < memory.address + memory.size_bytes) return false;
    return next == table.begin() || std::prev(next)->first + std::prev(next)->second.size_bytes <= memory.address;
  }

  bool add_piece(const TracedMemory& memory, Kind kind) {
    if (!is_range(memory) || !is_free(pieces_, memory)) return false;
    pieces_[memory.address] = {memory.size_bytes, memory.node, kind};
    return true;
  }

  // Returns false if the tensor does not lie in segments, or overlaps another.
  bool add_tensor(const TracedMemory& memory) {
    if (!is_range(memory) || !is_free(tensors_there_, memory) || !is_covered(memory)) return false;
    tensors_there_[memory.address] = {memory.size_bytes, memory.node};
    return true;
  }

  bool is_covered(const TracedMemory& memory) const {
    auto piece = pieces_.upper_bound(memory.address);
    if (piece == pieces_.begin()) return false;
    --piece;
    const uint64_t end = memory.address + memory.size_bytes;
    uint64_t at = piece->first;
    for (; piece != pieces_.end() && piece->first == at; ++piece) {
      const auto& [size_bytes, node, kind] = piece->second;
      at += size_bytes;
      if (at > memory.address && kind == Kind::kBlock) return false;
      if (at >= end) return true;
      if (kind != Kind::kPart) return false;
      const auto next = std::next(piece);
      if (next == pieces_.end() || next->second.kind != Kind::kPart) return false;
    }
    return false;
  }

  void write_segments(std::vector<StateSegment>* segments) const {
    auto tensor = tensors_there_.begin();
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
      const auto& [size_bytes, node, kind] = piece->second;
      const bool continues = kind == Kind::kPart && !segments->empty() && segments->back().grows &&
                             segments->back().address + segments->back().size_bytes == piece->first;
      if (continues) {
        segments->back().size_bytes += size_bytes;
      } else {
        segments->push_back({piece->first, size_bytes, node, kind == Kind::kPart, {}});
      }
      if (kind == Kind::kBlock) segments->back().blocks.push_back({piece->first, size_bytes, node});
      for (; tensor != tensors_there_.end() && tensor->first < piece->first + size_bytes; ++tensor)
        segments->back().blocks.push_back({tensor->first, tensor->second.size_bytes, tensor->second.node});
    }
  }

  void take_back(uint32_t index) {
    const TraceEvent& event = trace_.events[index];
    const TracedMemory& memory = trace_.memory[event.memory];
    if (memory.device != driver_ && memory.device != tensors_) return;
    const bool is_tensor = memory.device == tensors_;
    const bool is_mapping = event.action == TraceAction::kMap || event.action == TraceAction::kUnmap;
    switch (event.action) {
      case TraceAction::kRefuse: events_.push_back({StateAction::kRefuse, index}); return;
      case TraceAction::kEnd:
      case TraceAction::kUnmap:
        if (is_tensor && add_tensor(memory)) return events_.push_back({StateAction::kBlockEnd, index});
        return take_back_end(index, memory, is_tensor ? Kind::kBlock : kind_of(is_mapping, event.is_segment));
      case TraceAction::kBegin:
      case TraceAction::kMap:
        if (is_tensor && take_tensor(memory)) return events_.push_back({StateAction::kBlockBegin, index});
        return take_back_begin(index, memory);
    }
  }

  void take_back_end(uint32_t index, const TracedMemory& memory, Kind kind) {
    if (!add_piece(memory, kind)) return;
    events_.push_back({kind == Kind::kPart ? StateAction::kSegmentUnmap : StateAction::kSegmentEnd, index});
    if (kind == Kind::kBlock) events_.push_back({StateAction::kBlockEnd, index});
  }

  void take_back_begin(uint32_t index, const TracedMemory& memory) {
    const auto piece = pieces_.find(memory.address);
    if (piece == pieces_.end() || piece->second.size_bytes != memory.size_bytes) return;
    if (!is_free(tensors_there_, memory)) return;
    const Kind kind = piece->second.kind;
    pieces_.erase(piece);
    if (kind == Kind::kBlock) events_.push_back({StateAction::kBlockBegin, index});
    events_.push_back({kind == Kind::kPart ? StateAction::kSegmentMap : StateAction::kSegmentBegin, index});
  }

  bool take_tensor(const TracedMemory& memory) {
    const auto tensor = tensors_there_.find(memory.address);
    if (tensor == tensors_there_.end() || tensor->second.size_bytes != memory.size_bytes) return false;
    tensors_there_.erase(tensor);
    return true;
  }

  // When a tensor is refused, its allocator reports what is left in its segments. The device's free memory is what the
  // driver reported just before, when it refused the allocator; after the driver allocates or frees memory, it is
  // unknown.
  void find_free_bytes(std::vector<StateEvent>* events) const {
    uint64_t free_bytes = kFreeNotKnown;
    for (StateEvent& event : *events) {
      const TracedMemory& memory = trace_.memory[trace_.events[event.event].memory];
      const bool is_refused = event.action == StateAction::kRefuse;
      if (memory.device == driver_) free_bytes = is_refused ? memory.address : kFreeNotKnown;
      if (is_refused) event.free_bytes = free_bytes;
    }
  }

  const DeviceTrace& trace_;
  uint32_t driver_;
  uint32_t tensors_;
  std::map<uint64_t, Piece> pieces_;
  std::map<uint64_t, Tensor> tensors_there_;
  std::vector<StateEvent> events_;  // the last first
};

}  // namespace

std::vector<DeviceState> replay_trace(const DeviceTrace& trace, std::string_view device) {
  struct Places {
    uint32_t driver = Replay::kNone;
    uint32_t tensors = Replay::kNone;
  };
  std::vector<std::pair<std::string_view, Places>> devices;
  for (uint32_t i = 0; i < trace.devices.size(); ++i) {
    const std::string_view name = outer_name(trace.devices[i]);
    if (!device.empty() && outer_name(device) != name) continue;
    auto known = std::find_if(devices.begin(), devices.end(), [name](const auto& one) { return one.first == name; });
    if (known == devices.end()) known = devices.insert(devices.end(), {name, {}});
    (name == trace.devices[i] ? known->second.driver : known->second.tensors) = i;
  }
  std::vector<DeviceState> states;
  for (const auto& [name, places] : devices) {
    DeviceState& state = states.emplace_back();
    state.name = name;
    Replay(trace, places.driver, places.tensors).run(&state);
  }
  return states;
}

}  // namespace heapprof::cli
