// cli/write/profile/dhat_trace.cc: an event is five small numbers (some 17 bytes). Its time is relative to the previous
// event. Its memory is the index of a row in a table, because a program's loop uses the same addresses again and again.
#include "cli/write/profile/dhat_trace.h"

#include "cli/write/profile/dhat_sites.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

void write_texts(std::string_view name, const std::vector<std::string>& texts, JsonWriter* json) {
  json->key(name);
  json->begin_array();
  for (const std::string& text : texts) json->string(text);
  json->end_array();
  json->new_line();
}

// Writes number_of(entry) for each of `entries`.
template <typename Entries, typename NumberOf>
void write_column(std::string_view name, const Entries& entries, const NumberOf& number_of, JsonWriter* json) {
  json->key(name);
  json->begin_array();
  for (const auto& entry : entries) json->number(number_of(entry));
  json->end_array();
  json->new_line();
}

// The indexes of the live blocks with the flag.
void write_flagged(std::string_view name, const std::vector<TraceBlock>& live, bool TraceBlock::*flag,
                   JsonWriter* json) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i].*flag) numbers.push_back(i);
  }
  write_numbers(name, numbers, json);
}

}  // namespace

void write_device_trace(const DeviceTrace& trace, const std::function<void(uint32_t)>& write_frames, JsonWriter* json) {
  json->count("most_events", trace.most_events);
  json->count("older_events_count", trace.older_events);
  json->count("left_out_blocks_count", trace.left_out_blocks);
  write_texts("devices", trace.devices, json);
  write_texts("scopes", trace.scopes, json);
  std::unordered_map<uint32_t, uint64_t> stacks = {{0, 0}};
  json->key("stacks");
  json->begin_array();
  for (const TracedMemory& memory : trace.memory) {
    if (stacks.try_emplace(memory.node, stacks.size()).second) write_frames(memory.node);
  }
  json->end_array();
  json->new_line();
  json->key("memory");
  json->begin_object();
  write_column(
      "device", trace.memory, [](const TracedMemory& m) { return m.device; }, json);
  write_column(
      "address", trace.memory, [](const TracedMemory& m) { return m.address; }, json);
  write_column(
      "size_bytes", trace.memory, [](const TracedMemory& m) { return m.size_bytes; }, json);
  write_column(
      "stack", trace.memory, [&stacks](const TracedMemory& m) { return stacks.at(m.node); }, json);
  json->end_object();
  json->key("events");
  json->begin_object();
  uint64_t before_ns = 0;
  write_column(
      "after_ns", trace.events,
      [&before_ns](const TraceEvent& e) { return e.at_ns - std::exchange(before_ns, e.at_ns); }, json);
  write_column(
      "action", trace.events,
      [](const TraceEvent& e) { return static_cast<uint64_t>(e.action) * 2 + (e.is_segment ? 1 : 0); }, json);
  write_column(
      "memory", trace.events, [](const TraceEvent& e) { return e.memory; }, json);
  write_column(
      "thread", trace.events, [](const TraceEvent& e) { return e.thread; }, json);
  write_column(
      "scope", trace.events, [](const TraceEvent& e) { return e.scope; }, json);
  json->end_object();
  json->key("live");
  json->begin_object();
  write_column(
      "memory", trace.live, [](const TraceBlock& block) { return block.memory; }, json);
  write_flagged("mappings", trace.live, &TraceBlock::is_mapping, json);
  write_flagged("segments", trace.live, &TraceBlock::is_segment, json);
  json->end_object();
}

}  // namespace heapprof::cli
