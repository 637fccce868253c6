// cli/model/profile/snapshots.cc: see snapshots.h.
#include "cli/model/profile/snapshots.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {

LiveAmount amount_at(const std::vector<SiteStep>& steps, uint32_t snapshot) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), snapshot,
                                      [](uint32_t at, const SiteStep& step) { return at < step.snapshot; });
  if (after == steps.begin()) return {};
  return {std::prev(after)->live_bytes, std::prev(after)->live_blocks};
}

void add_steps(std::vector<SiteStep>* into, const std::vector<SiteStep>& from) {
  if (from.empty()) return;
  std::vector<SiteStep> sum;
  sum.reserve(into->size() + from.size());
  LiveAmount of_into;
  LiveAmount of_from;
  auto a = into->begin();
  auto b = from.begin();
  while (a != into->end() || b != from.end()) {
    const uint32_t snapshot = b == from.end()    ? a->snapshot
                              : a == into->end() ? b->snapshot
                                                 : std::min(a->snapshot, b->snapshot);
    if (a != into->end() && a->snapshot == snapshot) of_into = {a->live_bytes, a->live_blocks}, ++a;
    if (b != from.end() && b->snapshot == snapshot) of_from = {b->live_bytes, b->live_blocks}, ++b;
    const LiveAmount both{add_saturating(of_into.bytes, of_from.bytes), add_saturating(of_into.blocks, of_from.blocks)};
    const LiveAmount before = sum.empty() ? LiveAmount{} : LiveAmount{sum.back().live_bytes, sum.back().live_blocks};
    if (both != before) sum.push_back({snapshot, both.bytes, both.blocks});
  }
  *into = std::move(sum);
}

const SnapshotDevice* find_device(const Snapshot& snapshot, std::string_view device) {
  const auto found = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                  [device](const SnapshotDevice& it) { return it.device == device; });
  return found == snapshot.devices.end() ? nullptr : &*found;
}

std::string mark_text(const Snapshot& snapshot) {
  if (!snapshot.is_mark) return "";
  const std::string name = snapshot.name.empty() ? "[no name]" : snapshot.name;
  return snapshot.category.empty() ? name : snapshot.category + ": " + name;
}

}  // namespace heapprof::cli
