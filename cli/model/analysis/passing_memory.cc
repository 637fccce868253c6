// cli/model/analysis/passing_memory.cc: the innermost function that nearly all memory comes from is on the stack of the
// heaviest site, because it is on nearly every stack.
#include "cli/model/analysis/passing_memory.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heapprof::cli {

AtPeak at_peak(const FindingScene& scene, const Place& place) {
  AtPeak sum;
  for (const uint32_t index : place.sites) {
    const Site& site = scene.device.sites[index];
    if (site.suppressed_by > 0) continue;
    sum.bytes = add_saturating(sum.bytes, site.numbers.peak_bytes);
    sum.blocks = add_saturating(sum.blocks, site.numbers.peak_blocks);
    sum.sites.push_back({index, site.numbers.peak_bytes});
  }
  return sum;
}

namespace {

uint32_t function_of(const FindingScene& scene, uint32_t node) {
  return scene.tree.functions[scene.profile.nodes[node].frame];
}
uint32_t outer_function(const FindingScene& scene, uint32_t node) {
  return next_outer_function(scene.profile, scene.tree, node);
}

// The innermost function that nearly all of the memory comes from; nullopt if that function explains nothing. The
// outermost function (main) does not, unless it allocates itself. A function far from the allocation (an event loop)
// does not either.
std::optional<uint32_t> common_function(const FindingScene& scene, const std::vector<WeightedNode>& nodes) {
  constexpr size_t kFarthest = 3;          // calls from the place
  std::map<uint32_t, uint64_t> weights;    // by function
  std::map<uint32_t, uint64_t> of_places;  // by function: what it allocates itself
  uint64_t all = 0;
  WeightedNode heaviest;
  for (const WeightedNode& node : nodes) {
    if (node.weight > heaviest.weight) heaviest = node;
    all = add_saturating(all, node.weight);
    if (node.node == 0) continue;
    uint64_t& of_place = of_places[function_of(scene, node.node)];
    of_place = add_saturating(of_place, node.weight);
    std::set<uint32_t> seen;
    size_t calls = 0;
    for (uint32_t at = node.node; at != 0 && calls <= kFarthest; at = outer_function(scene, at), ++calls) {
      if (!seen.insert(function_of(scene, at)).second) continue;
      uint64_t& weight = weights[function_of(scene, at)];
      weight = add_saturating(weight, node.weight);
    }
  }
  for (uint32_t at = heaviest.node; at != 0; at = outer_function(scene, at)) {
    const uint32_t function = function_of(scene, at);
    if (!is_share({weights[function], all}, kCausePercent)) continue;
    const bool is_outermost = outer_function(scene, at) == 0;
    if (is_outermost && !is_share({of_places[function], all}, 50)) return std::nullopt;
    return function;
  }
  return std::nullopt;
}

// Replaces the cause, which is a single place, by the function that several places share, if that explains more.
// pre: several places have transient memory
void add_function(const FindingScene& scene, const std::vector<Passing>& passing, Cause* cause) {
  struct Line {
    uint64_t weight = 0;
    uint32_t frame = 0;
  };
  std::vector<WeightedNode> nodes;
  std::vector<std::pair<uint32_t, uint32_t>> owners;  // of each: index into passing, site
  for (uint32_t i = 0; i < passing.size(); ++i) {
    const AtPeak peak = at_peak(scene, scene.places[passing[i].place]);
    if (passing[i].bytes < peak.bytes / 2) continue;  // most of it stays live
    for (const WeightedSite& site : peak.sites) {
      if (site.weight == 0) continue;
      nodes.push_back({scene.tree.place_node[scene.device.sites[site.site].node], site.weight});
      owners.push_back({i, site.site});
    }
  }
  const std::optional<uint32_t> function = common_function(scene, nodes);
  if (!function) return;
  Cause whole;
  std::vector<WeightedNode> callers_of;
  std::map<uint32_t, Line> lines;  // by label
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < nodes.size(); ++i) {
    uint32_t node = nodes[i].node;
    while (node != 0 && function_of(scene, node) != *function) node = outer_function(scene, node);
    if (node == 0) continue;
    const Passing& part = passing[owners[i].first];
    const SiteNumbers& numbers = scene.device.sites[owners[i].second].numbers;
    callers_of.push_back({node, nodes[i].weight});
    const uint32_t frame = scene.profile.nodes[node].frame;
    Line& line = lines[scene.tree.labels[frame]];
    line = {add_saturating(line.weight, nodes[i].weight), frame};
    whole.peak.bytes = add_saturating(whole.peak.bytes, numbers.peak_bytes);
    whole.peak.blocks = add_saturating(whole.peak.blocks, numbers.peak_blocks);
    if (owners[i].first == last) continue;
    last = owners[i].first;
    whole.places.push_back(part.place);
    whole.passing.bytes = add_saturating(whole.passing.bytes, part.bytes);
    whole.passing.is_bound = whole.passing.is_bound || part.is_bound;
  }
  // The sum may be too large, because a place may have sites outside the function.
  whole.passing.bytes = std::min(whole.passing.bytes, whole.peak.bytes);
  if (whole.passing.bytes <= cause->passing.bytes) return;
  std::vector<Line> sorted;
  for (const auto& [label, line] : lines) sorted.push_back(line);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) { return a.weight > b.weight; });
  for (const Line& line : sorted) {
    if (whole.lines.empty() || is_share({line.weight, whole.peak.bytes}, kCauseLinePercent))
      whole.lines.push_back(line.frame);
  }
  whole.passing.place = cause->passing.place;
  whole.callers = find_callers(scene.profile, scene.tree, std::move(callers_of));
  *cause = std::move(whole);
}

}  // namespace

std::optional<Cause> find_cause(const FindingScene& scene, const std::vector<Passing>& passing, uint64_t least_bytes) {
  const auto largest = std::max_element(passing.begin(), passing.end(),
                                        [](const Passing& a, const Passing& b) { return a.bytes < b.bytes; });
  if (largest == passing.end()) return std::nullopt;
  uint64_t all = 0;
  for (const Passing& part : passing) all = add_saturating(all, part.bytes);
  Cause cause;
  cause.passing = *largest;
  cause.peak = at_peak(scene, scene.places[largest->place]);
  cause.places = {largest->place};
  if (!is_share({largest->bytes, all}, kCausePercent)) add_function(scene, passing, &cause);
  if (cause.passing.bytes < least_bytes) return std::nullopt;
  return cause;
}

Finding start_finding(const FindingScene& scene, FindingKind kind, Cause* cause) {
  Finding finding = start_finding(scene, kind, cause->passing.place, cause->peak.sites);
  if (!cause->lines.empty()) {
    finding.has_frame = true;
    finding.frame = cause->lines[0];
    finding.other_lines.assign(cause->lines.begin() + 1, cause->lines.end());
    finding.callers = std::move(cause->callers);
  }
  finding.cost_bytes = cause->passing.bytes;
  finding.cost_blocks = cause->peak.blocks;
  finding.at_peak_bytes = cause->peak.bytes;
  finding.is_at_least = cause->passing.is_bound;
  finding.share = {cause->passing.bytes, scene.device.totals.peak_bytes};
  return finding;
}

}  // namespace heapprof::cli
