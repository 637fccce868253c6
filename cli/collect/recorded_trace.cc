// cli/collect/recorded_trace.cc: records the memory that events are about in a separate table, so that an event is a
// few small numbers: a training loop repeats the same operations on the same addresses.
#include "cli/collect/recorded_parts.h"
#include "cli/collect/recorded_scopes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostLevels = 32;  // of scopes in a text: the innermost ones

class Recorder {
 public:
  explicit Recorder(const TraceParts& parts) : parts_(parts), devices_(parts.ledger->devices()) {}

  DeviceTrace run() {
    const TraceBook& book = devices_.trace();
    trace_.most_events = book.most();
    if (!book.is_on()) return std::move(trace_);
    trace_.older_events = book.older();
    number_devices();
    trace_.events.reserve(book.size());
    uint64_t before_ns = 0;
    book.for_each([&](const TracedEvent& from) {
      TraceEvent& event = trace_.events.emplace_back();
      event.at_ns = before_ns = std::max(before_ns, parts_.scale->since_start_ns(from.ticks));
      event.action = from.action;
      event.is_segment = from.is_segment && (from.action == TraceAction::kEnd || from.action == TraceAction::kUnmap);
      event.memory = memory_of(from.device, from.address, from.size_bytes, from.site);
      event.thread = from.thread_id;
      event.scope = scope_of(from.scope_path);
    });
    add_live();
    renumber_traced_memory(&trace_);
    return std::move(trace_);
  }

 private:
  // In the order in which the devices are shown.
  void number_devices() {
    std::map<uint32_t, uint32_t, DeviceLedger::DevicesFirst> used;
    devices_.trace().for_each([&used](const TracedEvent& event) { used[event.device] = 0; });
    devices_.for_each_address([&used](uint32_t device, uint64_t, uint64_t, uint32_t, bool, bool) { used[device] = 0; });
    devices_.for_each_tensor([&used](uint32_t device, const Block&) { used[device] = 0; });
    for (auto& [device, row] : used) {
      row = static_cast<uint32_t>(trace_.devices.size());
      trace_.devices.push_back(device_name(device));
      rows_[device] = row;
    }
  }

  // Memory of the driver first, then the largest tensors.
  void add_live() {
    devices_.for_each_address([this](uint32_t device, uint64_t address, uint64_t size_bytes, uint32_t site,
                                     bool is_mapping, bool is_segment) {
      if (trace_.live.size() == kMostTraceBlocks) {
        ++trace_.left_out_blocks;
        return;
      }
      trace_.live.push_back({memory_of(device, address, size_bytes, site), is_mapping, is_segment});
    });
    std::vector<std::pair<uint32_t, Block>> tensors;
    devices_.for_each_tensor([&tensors](uint32_t device, const Block& block) { tensors.emplace_back(device, block); });
    const size_t room = kMostTraceBlocks - trace_.live.size();
    if (tensors.size() > room) {
      std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(b.second.size_bytes, a.first, a.second.address) <
               std::tie(a.second.size_bytes, b.first, b.second.address);
      });
      trace_.left_out_blocks += tensors.size() - room;
      tensors.resize(room);
    }
    for (const auto& [device, block] : tensors)
      trace_.live.push_back({memory_of(device, block.address, block.size_bytes, block.site), false, false});
    std::sort(trace_.live.begin(), trace_.live.end(), [this](const TraceBlock& a, const TraceBlock& b) {
      const TracedMemory& left = trace_.memory[a.memory];
      const TracedMemory& right = trace_.memory[b.memory];
      return std::tie(left.device, left.address, a.is_mapping) < std::tie(right.device, right.address, b.is_mapping);
    });
  }

  uint32_t memory_of(uint32_t device, uint64_t address, uint64_t size_bytes, uint32_t site) {
    const uint32_t row = rows_.at(device);
    const auto [at, is_new] =
        memory_.try_emplace({row, address, size_bytes, site}, static_cast<uint32_t>(trace_.memory.size()));
    if (is_new) trace_.memory.push_back({row, address, size_bytes, parts_.tree->sites()[site].stack});
    return at->second;
  }

  uint32_t scope_of(uint32_t path) {
    if (path == 0) return 0;
    const auto [known, is_new] = scopes_.try_emplace(path, 0);
    if (!is_new) return known->second;
    const std::string text = text_of(path);
    const auto [same, is_new_text] = by_text_.try_emplace(text, static_cast<uint32_t>(trace_.scopes.size() + 1));
    if (is_new_text) trace_.scopes.push_back(text);
    return known->second = same->second;
  }

  std::string text_of(uint32_t path) const {
    const std::vector<ScopePath>& paths = parts_.ledger->scopes().paths();
    std::vector<std::string> names;
    for (; path != 0 && names.size() < kMostLevels; path = paths[path].parent) {
      const NameText name = name_of(paths[path].name, parts_.names);
      names.push_back(name.category.empty() ? name.text : name.category + ": " + name.text);
    }
    std::string text = path == 0 ? "" : "…";
    for (auto name = names.rbegin(); name != names.rend(); ++name) text += (text.empty() ? "" : " > ") + *name;
    return text;
  }

  const TraceParts& parts_;
  const DeviceLedger& devices_;
  DeviceTrace trace_;
  std::unordered_map<uint32_t, uint32_t> rows_;  // in trace_.devices, by wire's number
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, uint32_t>, uint32_t> memory_;
  std::unordered_map<uint32_t, uint32_t> scopes_;  // by path
  std::map<std::string, uint32_t> by_text_;
};

}  // namespace

DeviceTrace recorded_trace(const TraceParts& parts) { return Recorder(parts).run(); }

DeviceTrace lost_trace(const Ledger& ledger) {
  const TraceBook& book = ledger.devices().trace();
  DeviceTrace trace;
  trace.most_events = book.most();
  trace.older_events = book.older() + book.size();
  return trace;
}

}  // namespace heapprof::cli
