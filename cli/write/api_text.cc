// cli/write/api_text.cc: a line for each kind of call, with the stack that took most of its time. Allocating and freeing on a device
// waits for the device: who does it again and again for the same memory is told what it costs.
#include "cli/write/api_text.h"

#include "cli/base/units.h"
#include "cli/model/site_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

namespace heapprof::cli {
namespace {

constexpr uint64_t kWorthSaying = 100;  // allocations of memory that was there before

struct Kind {
  std::string call;
  uint64_t count = 0;
  uint64_t duration_ns = 0;
  uint64_t size_bytes = 0;
  uint32_t node = 0;  // of the place with most of the time
};

// The longest first, as the calls are.
std::vector<Kind> sum_by_kind(const DeviceApi& api) {
  std::vector<Kind> kinds;
  std::map<std::string, size_t> index;
  for (const ApiCall& call : api.calls) {
    const auto [at, is_new] = index.try_emplace(call.call, kinds.size());
    if (is_new) kinds.push_back({call.call, 0, 0, 0, call.node});
    Kind& kind = kinds[at->second];
    kind.count = add_saturating(kind.count, call.count);
    kind.duration_ns = add_saturating(kind.duration_ns, call.duration_ns);
    kind.size_bytes = add_saturating(kind.size_bytes, call.size_bytes);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.duration_ns > b.duration_ns; });
  return kinds;
}

// Blocks of devices beyond those that their site had when it had most bytes: memory that had been there before, about. No more of
// them than were freed by calls that wait.
uint64_t allocated_again(const Profile& profile, uint64_t freed) {
  uint64_t again = 0;
  for (const Device& device : profile.devices) {
    if (device.name.rfind("cuda:", 0) != 0) continue;
    for (const Site& site : device.sites) {
      const SiteNumbers& numbers = site.numbers;
      if (!site.max_is_bound && numbers.total_blocks > numbers.max_blocks)
        again = add_saturating(again, numbers.total_blocks - numbers.max_blocks);
    }
  }
  return std::min(again, freed);
}

const Kind* find_kind(const std::vector<Kind>& kinds, const char* call) {
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [call](const Kind& known) { return known.call == call; });
  return kind == kinds.end() ? nullptr : &*kind;
}

}  // namespace

std::string api_text(const Profile& profile, const FoldedTree& tree, const FrameNames& names, size_t columns) {
  const DeviceApi& api = profile.api;
  if (api.calls.empty() && api.kernel_launches == 0) return "";
  const std::vector<Kind> kinds = sum_by_kind(api);
  uint64_t count = 0;
  uint64_t duration_ns = 0;
  for (const Kind& kind : kinds) {
    count = add_saturating(count, kind.count);
    duration_ns = add_saturating(duration_ns, kind.duration_ns);
  }
  std::vector<PlaceLine> lines;
  std::deque<CallerChain> chains;
  for (const Kind& kind : kinds) {
    PlaceLine line = line_of(profile, tree, names, kind.node, &chains.emplace_back());
    line.numbers = {format_time(kind.duration_ns), format_percent({kind.duration_ns, duration_ns}),
                    format_count(kind.count) + " × " + kind.call,
                    kind.size_bytes == 0 ? std::string() : format_bytes(kind.size_bytes)};
    lines.push_back(std::move(line));
  }
  std::string text = fmt::format("\nGPU CALLS   {} of the host's time in {}; {} launched\n", format_time(duration_ns),
                                 format_counted(count, "call"), format_counted(api.kernel_launches, "kernel"));
  size_t function_column = 0;
  for (const std::string& line : lay_out(names, lines, 0, columns, &function_column)) text += line + "\n";
  const Kind* allocate = find_kind(kinds, "allocate");
  const Kind* release = find_kind(kinds, "free");
  if (allocate == nullptr || release == nullptr || allocate->count == 0 || release->count == 0) return text;
  const uint64_t again = allocated_again(profile, std::min(allocate->count, release->count));
  if (again < kWorthSaying) return text;
  const double pair_ns = static_cast<double>(allocate->duration_ns) / static_cast<double>(allocate->count) +
                         static_cast<double>(release->duration_ns) / static_cast<double>(release->count);
  text += fmt::format(
      "{} allocations were of device memory that had been there before: about {} for allocating and freeing it again\n"
      "  (keep it, or use a pool: cudaMallocAsync)\n",
      format_count(again), format_time(static_cast<uint64_t>(std::min(pair_ns * static_cast<double>(again), 1e18))));
  return text;
}

}  // namespace heapprof::cli
