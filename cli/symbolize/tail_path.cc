// cli/symbolize/tail_path.cc: first finds all reachable functions. Then it follows the jumps in reverse, to find those
// functions that lead to the end. The path is unique if each function on it has one jump to such a function or the end,
// and the end has none: any other path, and any cycle, would need a second one.
//
// The end's own jumps are followed only to find a path back to it. If they are unknown, the path is still accepted: its
// functions were elided in any case.
#include "cli/symbolize/tail_path.h"

#include <algorithm>
#include <unordered_map>

namespace heapprof::cli {

std::vector<uint64_t> find_only_path(uint64_t first, uint64_t end,
                                     const std::function<const Jumps&(uint64_t)>& jumps_of, size_t most_functions) {
  if (first == end) return {};
  std::vector<uint64_t> reached{first};
  std::unordered_map<uint64_t, std::vector<uint64_t>> sources{{first, {}}};  // the functions that jump to each
  const auto reach_from = [&](uint64_t at, const Jumps& jumps) {
    for (const uint64_t target : jumps.targets) {
      const auto [entry, is_new] = sources.try_emplace(target);
      if (is_new) reached.push_back(target);
      entry->second.push_back(at);
    }
  };
  size_t done = 0;
  for (; done < reached.size(); ++done) {
    const uint64_t at = reached[done];
    if (at == end) continue;
    if (done == most_functions) return {};
    const Jumps& jumps = jumps_of(at);
    if (!jumps.are_known) return {};
    reach_from(at, jumps);
  }
  if (!sources.contains(end)) return {};
  reach_from(end, jumps_of(end));
  for (; done < reached.size(); ++done) {
    if (done >= most_functions) return {};
    reach_from(reached[done], jumps_of(reached[done]));
  }
  std::unordered_map<uint64_t, bool> leads_there;  // those that reach the end by at least one jump
  std::vector<uint64_t> open{end};
  for (size_t i = 0; i < open.size(); ++i) {
    for (const uint64_t source : sources[open[i]])
      if (leads_there.try_emplace(source, true).second && source != end) open.push_back(source);
  }
  if (leads_there.contains(end)) return {};
  std::vector<uint64_t> path;
  for (uint64_t at = first; at != end;) {
    path.push_back(at);
    uint64_t next = at;
    size_t ways = 0;
    std::vector<uint64_t> targets = jumps_of(at).targets;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const uint64_t target : targets) {
      if (target != end && !leads_there.contains(target)) continue;
      next = target;
      ++ways;
    }
    if (ways != 1) return {};
    at = next;
  }
  return path;
}

}  // namespace heapprof::cli
