// tests/support/user_frame.h: where one stack is placed.
#pragma once

#include "cli/model/analysis/places.h"

namespace heapprof::test {

// The frame that a site of the node is placed at; nullptr for node 0.
inline const cli::Frame* user_frame(const cli::Profile& profile, uint32_t node) {
  const uint32_t place = cli::build_place_tree(profile).place_node[node];
  return place == 0 ? nullptr : &profile.frames[profile.nodes[place].frame];
}

}  // namespace heapprof::test
