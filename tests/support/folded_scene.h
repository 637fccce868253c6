// tests/support/folded_scene.h: a server whose blocks all come from wrappers, for tests of screens that say so.
#pragma once

#include "cli/model/analysis/folding.h"
#include "tests/support/scene_profile.h"

namespace heapprof::test {

// A known wrapper, one that is recognised, and one that keeps what was called for by a function without a name.
inline Profile folded_scene(const FoldRules& rules = {}) {
  ScenePlan plan;
  using Step = ScenePlan::Step;
  const Step main_{"main", "/home/me/server/src/main.c", 31};
  const Step malloc_{"malloc", "", 0};
  plan.profile().run.command = {"./server"};
  plan.add_device("host");
  SizedNumbers n;
  const auto add = [&](const std::vector<Step>& steps, uint64_t blocks, uint64_t each_bytes) {
    n = {};
    n.total_blocks = n.peak_blocks = n.leaked_blocks = blocks;
    n.total_bytes = n.peak_bytes = n.leaked_bytes = blocks * each_bytes;
    n.first_leak_ns = kSecondNs, n.last_leak_ns = 2 * kSecondNs;
    n.sizes.set(size_bucket(each_bytes), blocks);
    n.smallest_bytes = n.largest_bytes = each_bytes;
    plan.add_site(steps, n);
  };
  const Step zmalloc{"zmalloc", "/home/me/server/src/zmalloc.c", 101};
  add({malloc_, zmalloc, {"create_session(Client*)", "/home/me/server/src/session.c", 40}, main_}, 1'000, 8'192);
  add({malloc_, zmalloc, {"", "", 0}, main_}, 10, 4'096);
  const Step slab{"slab_get", "/home/me/server/src/slab.c", 12};
  for (uint32_t i = 0; i < 9; ++i) {
    const Step caller{"handle_" + std::string(1, static_cast<char>('a' + i)), "/home/me/server/src/handlers.c",
                      10 * i + 5};
    add({malloc_, slab, caller, main_}, 1'000 + 100 * i, 512 + 128 * i);
  }
  plan.add_timeline(18'204'000'000);
  Profile profile = plan.take();
  mark_folded(rules, &profile);
  return profile;
}

}  // namespace heapprof::test
