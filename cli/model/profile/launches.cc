// cli/model/profile/launches.cc: a profile may have entries in any order, and two names may become one when they are
// demangled. So each list is sorted, and entries with the same name and shape are summed.
#include "cli/model/profile/launches.h"

#include "cli/base/saturating.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

auto key_of(const KernelLaunches& kernel) {
  return std::tie(kernel.name, kernel.grid, kernel.block, kernel.shared_bytes);
}
auto key_of(const GraphLaunches& graph) { return std::tie(graph.is_known, graph.kernels); }

template <typename Entry>
void sort_and_sum(std::vector<Entry>* entries) {
  std::sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) { return key_of(a) < key_of(b); });
  std::vector<Entry> sums;
  for (Entry& entry : *entries) {
    if (!sums.empty() && key_of(sums.back()) == key_of(entry)) {
      sums.back().count = add_saturating(sums.back().count, entry.count);
    } else {
      sums.push_back(std::move(entry));
    }
  }
  *entries = std::move(sums);
}

}  // namespace

void add_gpu_time(const GpuTime& from, GpuTime* into) {
  into->time_ns = add_saturating(into->time_ns, from.time_ns);
  into->intervals = add_saturating(into->intervals, from.intervals);
}

void add_gpu_times(const GpuTimes& from, GpuTimes* into) {
  if (into->mode.empty()) {
    into->mode = from.mode;
  } else if (!from.mode.empty() && from.mode != into->mode) {
    into->mode = "several";
  }
  add_gpu_time(from.outside, &into->outside);
  into->unread = add_saturating(into->unread, from.unread);
  into->captured = add_saturating(into->captured, from.captured);
  into->untimed = add_saturating(into->untimed, from.untimed);
  into->waits = add_saturating(into->waits, from.waits);
  into->waits_ns = add_saturating(into->waits_ns, from.waits_ns);
}

void sort_launches(Launches* launches) {
  sort_and_sum(&launches->kernels);
  sort_and_sum(&launches->graphs);
}

void add_launches(const Launches& from, Launches* into) {
  if (from.empty()) return;
  into->kernels.insert(into->kernels.end(), from.kernels.begin(), from.kernels.end());
  into->graphs.insert(into->graphs.end(), from.graphs.begin(), from.graphs.end());
  sort_launches(into);
}

std::string shape_text(const KernelLaunches& kernel) {
  if (kernel.grid == std::array<uint64_t, 3>{} && kernel.block == std::array<uint64_t, 3>{}) return "";
  const auto sizes = [](const std::array<uint64_t, 3>& of) { return fmt::format("{}×{}×{}", of[0], of[1], of[2]); };
  std::string text = sizes(kernel.grid) + " of " + sizes(kernel.block);
  if (kernel.shared_bytes != 0) text += ", shared " + format_bytes(kernel.shared_bytes);
  return text;
}

}  // namespace heapprof::cli
