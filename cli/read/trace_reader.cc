// cli/read/trace_reader.cc: columns may come before the tables that they refer to, so all are read first, then checked
// and joined.
#include "cli/base/saturating.h"
#include "cli/read/extension_parts.h"
#include "cli/read/field_reader.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostDevices = 1000;

using Column = std::vector<uint64_t>;

struct Columns {
  std::vector<uint32_t> stacks;
  Column device, address, size_bytes, stack;
  Column after_ns, action, memory, thread, scope;
  Column live, mappings, segments;
};

bool are_below(const Column& column, uint64_t bound) {
  return std::all_of(column.begin(), column.end(), [bound](uint64_t number) { return number < bound; });
}

bool have_one_length(std::initializer_list<const Column*> columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const Column* column) { return column->size() == (*columns.begin())->size(); });
}

void read_texts(JsonPull* json, std::vector<std::string>* texts) {
  if (!json->begin_array()) return;
  std::string text;
  while (json->next_element() && read_text(json, &text)) texts->push_back(text);
}

// MemberReader refuses a repeated name, so a column is read once.
void read_columns(JsonPull* json, std::initializer_list<std::pair<std::string_view, Column*>> columns) {
  std::vector<MemberReader::Member> members;
  for (const auto& [name, column] : columns) members.push_back({name, [json, to = column] { read_numbers(json, to); }});
  MemberReader(json, std::move(members)).read();
}

const char* find_fault(const DeviceTrace& trace, const Columns& columns) {
  if (!have_one_length({&columns.address, &columns.device, &columns.size_bytes, &columns.stack}) ||
      !have_one_length({&columns.memory, &columns.after_ns, &columns.action, &columns.thread, &columns.scope}))
    return "the columns of the device trace are of several lengths";
  if (columns.memory.size() > kMostTraceEvents || columns.live.size() > kMostTraceBlocks ||
      trace.most_events > kMostTraceEvents || trace.devices.size() > kMostDevices)
    return "the device trace has more events, blocks or devices than heapprof keeps";
  const size_t memory = columns.address.size();
  if (!are_below(columns.device, trace.devices.size()) || !are_below(columns.stack, columns.stacks.size() + 1) ||
      !are_below(columns.memory, memory) || !are_below(columns.live, memory) ||
      !are_below(columns.scope, trace.scopes.size() + 1) || !are_below(columns.mappings, columns.live.size()) ||
      !are_below(columns.segments, columns.live.size()))
    return "the device trace names what it does not have";
  if (!are_below(columns.action, kTraceActions * 2) || !are_below(columns.thread, uint64_t{1} << 32))
    return "an event of the device trace is of an unknown kind, or of no thread";
  return nullptr;
}

void join(const Columns& columns, DeviceTrace* trace) {
  for (size_t i = 0; i < columns.address.size(); ++i) {
    const uint64_t stack = columns.stack[i];
    trace->memory.push_back({static_cast<uint32_t>(columns.device[i]), columns.address[i], columns.size_bytes[i],
                             stack == 0 ? 0 : columns.stacks[stack - 1]});
  }
  uint64_t at_ns = 0;
  for (size_t i = 0; i < columns.memory.size(); ++i) {
    at_ns = add_saturating(at_ns, columns.after_ns[i]);
    trace->events.push_back({at_ns, static_cast<TraceAction>(columns.action[i] / 2), columns.action[i] % 2 != 0,
                             static_cast<uint32_t>(columns.memory[i]), static_cast<uint32_t>(columns.thread[i]),
                             static_cast<uint32_t>(columns.scope[i])});
  }
  for (const uint64_t memory : columns.live) trace->live.push_back({static_cast<uint32_t>(memory), false, false});
  for (const uint64_t block : columns.mappings) trace->live[block].is_mapping = true;
  for (const uint64_t block : columns.segments) trace->live[block].is_segment = true;
}

}  // namespace

void read_device_trace(JsonPull* json, PointReader* points, DeviceTrace* trace) {
  Columns columns;
  const auto read_stacks = [&] {
    if (!json->begin_array()) return;
    while (json->next_element() && !json->failed()) points->read_stack(json, &columns.stacks.emplace_back());
  };
  const auto read_memory = [&] {
    read_columns(json, {{"device", &columns.device},
                        {"address", &columns.address},
                        {"size_bytes", &columns.size_bytes},
                        {"stack", &columns.stack}});
  };
  const auto read_events = [&] {
    read_columns(json, {{"after_ns", &columns.after_ns},
                        {"action", &columns.action},
                        {"memory", &columns.memory},
                        {"thread", &columns.thread},
                        {"scope", &columns.scope}});
  };
  const auto read_live = [&] {
    read_columns(json, {{"memory", &columns.live}, {"mappings", &columns.mappings}, {"segments", &columns.segments}});
  };
  MemberReader(json, {{"most_events", [&] { json->read_unsigned(&trace->most_events); }},
                      {"older_events_count", [&] { json->read_unsigned(&trace->older_events); }},
                      {"left_out_blocks_count", [&] { json->read_unsigned(&trace->left_out_blocks); }},
                      {"devices", [&] { read_texts(json, &trace->devices); }},
                      {"scopes", [&] { read_texts(json, &trace->scopes); }},
                      {"stacks", read_stacks},
                      {"memory", read_memory},
                      {"events", read_events},
                      {"live", read_live}})
      .read();
  if (json->failed()) return;
  if (const char* fault = find_fault(*trace, columns)) return static_cast<void>(json->fail(fault));
  join(columns, trace);
}

}  // namespace heapprof::cli
