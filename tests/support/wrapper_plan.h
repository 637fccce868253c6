// tests/support/wrapper_plan.h: stacks of a program whose functions may be wrappers, for tests of folding.
#pragma once

#include "tests/support/scene_profile.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::test {

inline const ScenePlan::Step kMain{"main", "/src/main.cc", 3};

// So many blocks of each size from `smallest` to `largest`, all alive at the peak.
inline void add_blocks(ScenePlan* plan, const std::vector<ScenePlan::Step>& steps, uint64_t count,
                       uint64_t smallest_bytes, uint64_t largest_bytes = 0) {
  SizedNumbers n;
  n.total_blocks = n.peak_blocks = count;
  n.total_bytes = n.peak_bytes = count * smallest_bytes;
  n.sizes.set(size_bucket(smallest_bytes), count);
  n.smallest_bytes = smallest_bytes;
  n.largest_bytes = std::max(smallest_bytes, largest_bytes);
  plan->add_site(steps, n);
}

inline std::string name_at(const Profile& profile, uint32_t node) {
  return node == 0 ? "" : profile.frames[profile.nodes[node].frame].function;
}

// A function of the program's own.
inline ScenePlan::Step own(const std::string& function, uint32_t line = 7) { return {function, "/src/own.cc", line}; }

}  // namespace heapprof::test
