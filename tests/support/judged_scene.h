// tests/support/judged_scene.h: the renderer's profile as `run --leak-check` would have it: of a site that left
// ten blocks or more half are lost, three by way of others, two possibly, and the rest can be reached.
#pragma once

#include "tests/support/scene_profile.h"

namespace heapprof::test {

inline Profile judged_scene() {
  Profile profile = scene_profile();
  profile.run.leak_check.is_asked = true;
  profile.run.leak_check.is_made = true;
  profile.run.leak_check.searched_bytes = 71'303'168;
  profile.run.leak_check.stopped_threads = 2;
  profile.run.leak_check.duration_ns = 48'000'000;
  for (Site& site : profile.devices[0].sites) {
    SiteNumbers& n = site.numbers;
    if (n.leaked_blocks < 10) continue;
    const uint64_t each_bytes = n.leaked_bytes / n.leaked_blocks;
    n.lost_blocks = n.leaked_blocks / 2;
    n.indirectly_lost_blocks = 3;
    n.possibly_lost_blocks = 2;
    n.reachable_blocks = n.leaked_blocks - n.lost_blocks - 5;
    n.lost_bytes = n.lost_blocks * each_bytes;
    n.indirectly_lost_bytes = n.indirectly_lost_blocks * each_bytes;
    n.possibly_lost_bytes = n.possibly_lost_blocks * each_bytes;
    n.reachable_bytes = n.leaked_bytes - n.lost_bytes - n.indirectly_lost_bytes - n.possibly_lost_bytes;
  }
  return profile;
}

}  // namespace heapprof::test
