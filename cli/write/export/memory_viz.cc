// cli/write/export/memory_viz.cc: the schema is that of torch.cuda.memory._snapshot(), as far as its viewer reads it.
//
// The viewer shows a freed block as waiting for its stream, unless free_requested comes right before free_completed. So
// the end of a block is written as both events.
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/trace_replay.h"
#include "cli/write/encode/pickle_writer.h"
#include "cli/write/export/exports.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kLargest = (uint64_t{1} << 53) - 1;  // the viewer's numbers are doubles
constexpr uint64_t kSmallBlockBytes = 1 << 20;          // PyTorch's: larger blocks come from its large pool
constexpr uint64_t kSmallSegmentBytes = 2 << 20;        // PyTorch's, for the small pool
constexpr uint32_t kMostDevices = 256;                  // CUDA devices

// N of cuda:N.
std::optional<uint32_t> cuda_number(std::string_view name) {
  constexpr std::string_view kCuda = "cuda:";
  if (name.substr(0, kCuda.size()) != kCuda) return {};
  uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kCuda.size(), end, number);
  if (error != std::errc() || stop != end || number >= kMostDevices) return {};
  return number;
}

class MemoryVizWriter {
 public:
  MemoryVizWriter(const Profile& profile, const ExportView& view, ByteSink* sink)
      : profile_(profile), trace_(profile.trace), pickle_(sink) {
    std::vector<DeviceState> states = replay_trace(profile.trace, view.device);
    size_t count = 0;
    for (const DeviceState& state : states) count = std::max<size_t>(count, cuda_number(state.name).value_or(0) + 1);
    by_number_.resize(has_cuda(states) ? count : 0);
    for (DeviceState& state : states) {
      const std::optional<uint32_t> number = cuda_number(state.name);
      if (number && by_number_[*number].name.empty()) {
        by_number_[*number] = std::move(state);
      } else {
        by_number_.push_back(std::move(state));
      }
    }
  }

  void run() {
    pickle_.begin_dict();
    pickle_.key("segments");
    pickle_.begin_list();
    for (uint32_t device = 0; device < by_number_.size(); ++device) {
      for (const StateSegment& segment : by_number_[device].segments) {
        pickle_.next_element();
        write_segment(device, segment);
      }
    }
    pickle_.end_list();
    pickle_.key("device_traces");
    pickle_.begin_list();
    for (const DeviceState& device : by_number_) {
      pickle_.next_element();
      pickle_.begin_list();
      for (const StateEvent& event : device.events) write_event(event);
      pickle_.end_list();
    }
    pickle_.end_list();
    pickle_.key("heapprof");
    write_facts();
    pickle_.end_dict();
    pickle_.finish();
  }

 private:
  static bool has_cuda(const std::vector<DeviceState>& states) {
    return std::any_of(states.begin(), states.end(), [](const DeviceState& state) { return cuda_number(state.name); });
  }

  void write_facts() {
    pickle_.begin_dict();
    pickle_.text("version", HEAPPROF_VERSION);
    pickle_.key("devices");
    pickle_.begin_list();
    for (const DeviceState& device : by_number_) {
      pickle_.next_element();
      pickle_.text(device.name);
    }
    pickle_.end_list();
    pickle_.number("older_events", std::min(trace_.older_events, kLargest));
    pickle_.number("left_out_blocks", std::min(trace_.left_out_blocks, kLargest));
    pickle_.end_dict();
  }

  void write_segment(uint32_t device, const StateSegment& segment) {
    uint64_t allocated_bytes = 0;
    uint64_t largest_bytes = 0;
    for (const StateBlock& block : segment.blocks) {
      allocated_bytes += block.size_bytes;
      largest_bytes = std::max(largest_bytes, block.size_bytes);
    }
    const bool is_small =
        segment.blocks.empty() ? segment.size_bytes <= kSmallSegmentBytes : largest_bytes <= kSmallBlockBytes;
    pickle_.begin_dict();
    pickle_.number("device", device);
    pickle_.number("address", segment.address);
    pickle_.number("total_size", segment.size_bytes);
    pickle_.number("stream", 0);
    pickle_.text("segment_type", is_small ? "small" : "large");
    pickle_.key("segment_pool_id");
    pickle_.pair(0, 0);  // the default pool, which is not a CUDA graph's
    for (const char* name : {"allocated_size", "active_size", "requested_size"}) pickle_.number(name, allocated_bytes);
    pickle_.key("is_expandable");
    pickle_.boolean(segment.grows);
    write_frames(segment.node);
    pickle_.key("blocks");
    pickle_.begin_list();
    uint64_t at = segment.address;
    for (const StateBlock& block : segment.blocks) {
      if (block.address != at) write_block({at, block.address - at, 0}, "inactive");
      write_block(block, "active_allocated");
      at = block.address + block.size_bytes;
    }
    const uint64_t end = segment.address + segment.size_bytes;
    if (at != end) write_block({at, end - at, 0}, "inactive");
    pickle_.end_list();
    pickle_.end_dict();
  }

  void write_block(const StateBlock& block, std::string_view state) {
    pickle_.next_element();
    pickle_.begin_dict();
    pickle_.number("address", block.address);
    pickle_.number("size", block.size_bytes);
    pickle_.number("requested_size", block.size_bytes);
    pickle_.text("state", state);
    write_frames(block.node);
    pickle_.end_dict();
  }

  void write_event(const StateEvent& event) {
    switch (event.action) {
      case StateAction::kSegmentBegin: return write_action("segment_alloc", event);
      case StateAction::kSegmentEnd: return write_action("segment_free", event);
      case StateAction::kSegmentMap: return write_action("segment_map", event);
      case StateAction::kSegmentUnmap: return write_action("segment_unmap", event);
      case StateAction::kBlockBegin: return write_action("alloc", event);
      case StateAction::kBlockEnd: write_action("free_requested", event); return write_action("free_completed", event);
      case StateAction::kRefuse: return write_action("oom", event);
    }
  }

  void write_action(std::string_view action, const StateEvent& of) {
    const TraceEvent& event = trace_.events[of.event];
    const TracedMemory& memory = trace_.memory[event.memory];
    pickle_.next_element();
    pickle_.begin_dict();
    pickle_.text("action", action);
    if (of.action != StateAction::kRefuse) {
      pickle_.number("addr", memory.address);
    } else if (of.free_bytes != kFreeNotKnown) {
      pickle_.number("device_free", std::min(of.free_bytes, kLargest));
    } else {
      pickle_.key("device_free");  // readers require it
      pickle_.minus_one();
    }
    pickle_.number("size", std::min(memory.size_bytes, kLargest));
    pickle_.number("stream", 0);
    pickle_.number("time_us", time_us(event.at_ns));
    if (event.scope != 0) pickle_.text("user_metadata", trace_.scopes[event.scope - 1]);
    write_frames(is_end(of.action) ? 0 : memory.node);
    pickle_.end_dict();
  }

  // Events that end memory have no stack.
  static bool is_end(StateAction action) {
    return action == StateAction::kSegmentEnd || action == StateAction::kSegmentUnmap ||
           action == StateAction::kBlockEnd;
  }

  // Microseconds since 1970, or since the run's start if the profile does not know when that was.
  uint64_t time_us(uint64_t at_ns) const {
    return std::min(profile_.run.start_unix_ns / 1000 + at_ns / 1000, kLargest);
  }

  // Writes the stack's frames, the innermost first.
  void write_frames(uint32_t node) {
    pickle_.key("frames");
    const auto known = stacks_.find(node);
    if (known != stacks_.end()) return pickle_.again(known->second);
    pickle_.begin_list();
    stacks_[node] = pickle_.remember();
    for (; node != 0; node = profile_.nodes[node].parent) {
      pickle_.next_element();
      write_frame(profile_.nodes[node].frame);
    }
    pickle_.end_list();
  }

  void write_frame(uint32_t index) {
    const auto known = frames_.find(index);
    if (known != frames_.end()) return pickle_.again(known->second);
    const Frame& frame = profile_.frames[index];
    pickle_.begin_dict();
    frames_[index] = pickle_.remember();
    pickle_.text("name", frame.function.empty() ? frame_label(profile_, frame) : frame.function);
    pickle_.text("filename", file_of(frame));
    pickle_.number("line", frame.line);
    pickle_.end_dict();
  }

  std::string file_of(const Frame& frame) const {
    if (!frame.file.empty()) return frame.file;
    return frame.module < profile_.modules.size() ? profile_.modules[frame.module].path : "??";
  }

  const Profile& profile_;
  const DeviceTrace& trace_;
  PickleWriter pickle_;
  std::vector<DeviceState> by_number_;             // an unused number has an empty name
  std::unordered_map<uint32_t, uint32_t> stacks_;  // remember()'s numbers, by node
  std::unordered_map<uint32_t, uint32_t> frames_;  // likewise, by frame
};

}  // namespace

void write_memory_viz(const Profile& profile, const ExportView& view, ByteSink* sink) {
  MemoryVizWriter(profile, view, sink).run();
}

}  // namespace heapprof::cli
