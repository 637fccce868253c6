// tests/unit/run/summary_screen_test.cc: what there is to say about a program without names fits one screen.
#include "cli/run/summary.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof::cli;
using namespace heapprof::test;

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
  Terminal screen;
  screen.columns = 80;
  screen.utf8 = true;
  screen.is_fitted = true;
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
