// tests/unit/run/summary_screen_test.cc: what there is to say about a program without names fits one screen, and
// processes give way to places.
#include "cli/run/process_tree_text.h"
#include "cli/run/summary/summary.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Terminal small_screen() {
  Terminal screen;
  screen.columns = 80;
  screen.utf8 = true;
  screen.is_fitted = true;
  return screen;
}

}  // namespace

TEST_CASE("a program without names has one screen, whatever else there is to say") {
  ScenePlan plan;
  plan.add_device("host");
  const std::vector<ScenePlan::Step> stack = {{"", "", 0}, {"__libc_start_call_main", "", 0}};
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 900 * kMiB, n.total_blocks = n.peak_blocks = 2'000'000, n.temporary_blocks = 1'500'000;
  n.leaked_bytes = 800 * kMiB, n.leaked_blocks = 1'000'000;
  plan.add_site(stack, n);
  Profile profile = plan.take();
  profile.modules[2].path = "/usr/lib/x86_64-linux-gnu/libsomething-with-a-long-name-5.2.so.0";
  profile.run.duration_ns = 41 * kSecondNs;
  const Terminal screen = small_screen();
  size_t longest = 0;
  for (const EndKind end : {EndKind::kExited, EndKind::kSignaled}) {
    for (const bool has_curve : {false, true}) {
      profile.run.end = {end, end == EndKind::kSignaled ? 9 : 0};
      Timeline& timeline = profile.devices[0].timeline;
      timeline.bucket_ns = has_curve ? kSecondNs : 0;
      timeline.buckets.assign(has_curve ? 41 : 0, {1, profile.devices[0].totals.peak_bytes});
      const std::string text = render_summary({profile, "heapprof.render.31337.json", 2'202'009}, screen);
      INFO(text);
      CHECK(text.find("HP068") != std::string::npos);
      CHECK(std::count(text.begin(), text.end(), '\n') <= 22);  // and an empty line before, and the prompt
      longest = std::max(longest, static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
    }
  }
  CHECK(longest >= 20);  // the test is about something
}

TEST_CASE("many processes and images give way to the places on one screen") {
  const Profile profile = scene_profile();
  ProcessTree tree(31337);
  tree.set_profile(ProcessTree::kRoot, {5000, "a.json", {"make"}});
  for (uint32_t i = 0; i < 20; ++i)
    tree.set_profile(tree.add(31340 + i, 1, ProcessTree::kRoot), {uint64_t{i + 1} << 20, "b.json", {"cc1"}});
  std::vector<SavedProfile> images;
  for (uint64_t i = 1; i <= 6; ++i) {
    images.emplace_back();
    images.back().path = "a.exec" + std::to_string(i) + ".json";
    images.back().peak_bytes = i << 10;
    images.back().command = {"env"};
  }
  const std::string text = render_summary({profile, "a.json", 100, images, &tree}, small_screen());
  CHECK(text.find("  20.0 MiB  31359  cc1\n  19.0 MiB  31358  cc1\n  18.0 MiB  31357  cc1\n"
                  "  4.88 KiB  31337  make  (started)\n  + 17 smaller\n") != std::string::npos);
  CHECK(text.find("image  a.exec6.json  peak 6.00 KiB  env\nimage  a.exec5.json  peak 5.00 KiB  env\n"
                  "image  + 4 smaller\n") != std::string::npos);
  CHECK(tree_text(tree, 80).find("  + 13 smaller\n") != std::string::npos);
}
