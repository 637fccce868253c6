// cli/model/profile/device_trace.cc: stacks with different addresses in a recording may read alike in a profile. Then
// entries of memory that differ only in their stacks are merged.
#include "cli/model/profile/device_trace.h"

#include <map>
#include <tuple>
#include <utility>

namespace heapprof::cli {

void renumber_traced_memory(DeviceTrace* trace) {
  using Key = std::tuple<uint32_t, uint64_t, uint64_t, uint32_t>;
  std::map<Key, uint32_t> numbers;
  std::vector<TracedMemory> used;
  const auto renumber = [&](uint32_t& memory) {
    const TracedMemory& one = trace->memory[memory];
    const auto [at, is_new] =
        numbers.try_emplace({one.device, one.address, one.size_bytes, one.node}, static_cast<uint32_t>(used.size()));
    if (is_new) used.push_back(one);
    memory = at->second;
  };
  for (TraceEvent& event : trace->events) renumber(event.memory);
  for (TraceBlock& block : trace->live) renumber(block.memory);
  trace->memory = std::move(used);
}

}  // namespace heapprof::cli
