// tests/unit/model/findings_kept_test.cc: the rules of what stays, and of what only the start needed, at their
// thresholds, on both sides.
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/findings.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

TEST_CASE("growth is found if it goes on in every quarter of the run") {
  const auto kinds = [](const std::vector<uint64_t>& bytes, uint64_t leaked = 1000) {
    SizedNumbers n = blocks(leaked, 1000, true);
    n.last_leak_ns = 10 * kSecond;
    return Scene().add({kWork, kMain}, n).live(bytes).kinds();
  };
  CHECK(kinds(rising(100'000)) == "growth");
  CHECK(kinds(rising(100'000, 7)).empty());                      // full after 70 %
  CHECK(kinds({1, 2, 3, 4, 5, 6, 7, 8, 9, 1'000'000}).empty());  // only its end
  CHECK(kinds({1000, 2000, 4000, 8000, 16'000, 32'000, 64'000, 128'000, 256'000, 1'000'000}).empty());  // doubles
  CHECK(kinds(rising(0, 10)).empty());
  CHECK(kinds({0, 900'000, 0, 900'000, 0, 900'000, 0, 900'000, 0, 900'000}).empty());  // goes up and down
  CHECK(kinds(rising(100'000), 31).empty());                                           // too few blocks
  CHECK(kinds({100'000, 300'000, 500'000, 700'000, 900'000, 1'000'000}).empty());      // too few moments
}

TEST_CASE("growth says how many unrecorded blocks were freed only if recording did not last the whole run") {
  Scene scene;
  scene.add({kWork, kMain}, blocks(1000, 1000, true)).live(rising(100'000));
  Profile& profile = scene.profile();
  const auto older_frees = [&] {
    const std::vector<Finding> found = scene.found();
    REQUIRE(found.size() == 1);
    return found[0].older_frees;
  };
  profile.run.counters.inherited_frees = 700;
  profile.run.counters.left_out_ended = 30;
  CHECK(older_frees() == 0);  // a forked child frees its parent's blocks
  profile.run.is_attached = true;
  CHECK(older_frees() == 730);
  profile.run.is_attached = false;
  profile.run.sampling.unrecorded_ns = 1;
  CHECK(older_frees() == 730);
}

TEST_CASE("growth that is small, short, or explained is not found") {
  const auto grown = [](uint64_t step_bytes) {
    Scene scene;
    scene.add({kWork, kMain}, blocks(1000, step_bytes / 100, true)).live(rising(step_bytes));
    return scene;
  };
  CHECK(grown(40'000).kinds() == "growth");
  CHECK(grown(29'000).kinds().empty());  // below 256 KiB after the first tenth
  Scene brief = grown(100'000);
  brief.profile().run.duration_ns = kGrowthRunNs - 1;
  for (uint64_t& moment_ns : brief.host().moments_ns) moment_ns /= 11;
  CHECK(brief.kinds().empty());  // it may be data that is loaded: no problem
  std::vector<Finding> brief_growth;
  CHECK(find_findings(brief.profile(), build_place_tree(brief.profile()), &brief_growth).empty());
  REQUIRE(brief_growth.size() == 1);
  CHECK(brief_growth[0].is_brief);
  CHECK(find_unasked(brief.profile(), "") == std::vector<Unasked>{{FindingKind::kGrowth, "", Lack::kTime}});
  brief.profile().run.duration_ns = kShapeRunNs - 1;
  CHECK(find_unasked(brief.profile(), "") == std::vector<Unasked>{{FindingKind::kGrowth, "", Lack::kTime},
                                                                  {FindingKind::kStartPeak, "", Lack::kTime},
                                                                  {FindingKind::kSpike, "", Lack::kTime},
                                                                  {FindingKind::kBacklog, "", Lack::kTime}});
  Scene known = grown(100'000);
  known.host().sites[0].suppressed_by = 1;
  CHECK(known.kinds().empty());
  Scene beside = grown(40'000);
  beside.add({{"table", "/src/t.cc", 1}, kMain}, blocks(1, 100'000'000));
  CHECK(beside.kinds().empty());  // below 1 % of the peak
}

TEST_CASE("the callers of what grows have their parts of the growth, not of the peak") {
  const Step helper{"mem_get", "/src/wrap.c", 6};
  Scene scene;
  scene.add({helper, {"add_session", "/src/wrap.c", 11}, kMain}, blocks(100, 40'000)).live(rising(400'000));
  scene.add({helper, {"load", "/src/wrap.c", 13}, kMain}, blocks(1, 3'000'000));
  scene.host().sites.back().live_bytes = std::vector<uint64_t>(10, 3'000'000);
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].kind == FindingKind::kGrowth);
  CHECK(found[0].callers.shares.empty());
  REQUIRE(found[0].callers.frames.size() == 2);
  CHECK(scene.profile().frames[found[0].callers.frames[0]].function == "add_session");
}

TEST_CASE("what grows is summed over the callers of a place, and an orderly end does not hide it") {
  Scene scene;
  scene.add({kWork, {"a", "/src/a.cc", 1}, kMain}, blocks(20, 10'000)).live(rising(50'000));
  scene.add({kWork, {"b", "/src/b.cc", 1}, kMain}, blocks(20, 10'000)).live(rising(50'000));
  const std::vector<Finding> found = scene.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost_bytes == 900'000);
  CHECK(found[0].over_ns == 9 * kSecond);
}

TEST_CASE("large blocks that are never freed are found if they are several, over the run and up to its end") {
  const auto kinds = [](uint64_t count, uint64_t each_bytes, uint64_t first_ns, uint64_t last_ns) {
    SizedNumbers n = blocks(count, each_bytes, true);
    n.first_leak_ns = first_ns;
    n.last_leak_ns = last_ns;
    return Scene().add({kWork, kMain}, n).kinds();
  };
  CHECK(kinds(4, 300'000, kSecond, 9 * kSecond) == "never-freed");
  CHECK(kinds(3, 400'000, kSecond, 9 * kSecond).empty());
  CHECK(kinds(100, 60'000, kSecond, 9 * kSecond).empty());     // not large
  CHECK(kinds(4, 200'000, kSecond, 9 * kSecond).empty());      // not much
  CHECK(kinds(4, 300'000, kSecond, 7 * kSecond).empty());      // a cache that is full
  CHECK(kinds(4, 300'000, 8 * kSecond, 9 * kSecond).empty());  // of one moment
}

TEST_CASE("one stack has to leave several large blocks: a wrapper's callers once each are no leak") {
  Scene scene;
  for (uint32_t line = 1; line <= 12; ++line) {
    SizedNumbers n = blocks(1, 300'000, true);
    n.first_leak_ns = n.last_leak_ns = line * 10 * kSecond / 12;
    scene.add({kWork, {"caller", "/src/c.cc", line}, kMain}, n);
  }
  CHECK(scene.kinds().empty());
  SizedNumbers again = blocks(12, 300'000, true);
  again.first_leak_ns = kSecond;
  again.last_leak_ns = 9 * kSecond;
  CHECK(scene.add({kWork, kMain}, again).kinds() == "never-freed");
}

TEST_CASE("small blocks that are never freed are found if one stack leaves nearly all that it makes, to the end") {
  const auto found = [](uint64_t count, uint64_t each_bytes, uint64_t first_ns, uint64_t last_ns, uint64_t freed = 0) {
    SizedNumbers n = blocks(count, each_bytes, true);
    n.total_blocks += freed;
    n.total_bytes += freed * each_bytes;
    n.first_leak_ns = first_ns;
    n.last_leak_ns = last_ns;
    return Scene().add({kWork, kMain}, n);
  };
  const auto kinds = [&](auto... numbers) { return found(numbers...).kinds(); };
  CHECK(kinds(1000, 2000, kSecond, 9 * kSecond) == "small-never-freed");
  CHECK(kinds(999, 2000, kSecond, 9 * kSecond).empty());              // few
  CHECK(kinds(1000, 1048, kSecond, 9 * kSecond).empty());             // not much
  CHECK(kinds(1000, 70'000, kSecond, 9 * kSecond) == "never-freed");  // not small
  CHECK(kinds(1000, 2000, kSecond, 7 * kSecond).empty());             // a table that is full
  CHECK(kinds(1000, 2000, 8 * kSecond, 9 * kSecond).empty());         // of one moment
  CHECK(kinds(1000, 2000, kSecond, 9 * kSecond, 100) == "small-never-freed");
  CHECK(kinds(1000, 2000, kSecond, 9 * kSecond, 112).empty());  // some are dropped: a cache
  Scene beside = found(1000, 2000, kSecond, 9 * kSecond);
  CHECK(beside.add({kMain}, blocks(1, 100'000'000, true)).kinds().empty());  // below 5 % of the peak
  Scene filled = found(1000, 2000, kSecond, 9 * kSecond);
  CHECK(filled.live(std::vector<uint64_t>(10, 1'900'000)).kinds().empty());  // at the start, and a few more
  Scene stopped = found(1000, 2000, kSecond, 9 * kSecond);
  stopped.profile().run.end = {EndKind::kSignaled, 15};
  CHECK(stopped.kinds().empty());
  Scene known = found(1000, 2000, kSecond, 9 * kSecond);
  known.host().sites[0].suppressed_by = 1;
  CHECK(known.kinds().empty());
}

TEST_CASE("growth begins when the place does, and ends before the program tidies up") {
  const auto scene = [](const std::vector<uint64_t>& bytes, uint64_t leaked) {
    Scene made;
    made.add({kWork, kMain}, blocks(1000, 1000)).live(bytes);
    made.host().sites.back().numbers.leaked_bytes = leaked;
    made.host().totals.leaked_bytes = leaked;
    made.host().timeline.bucket_ns = kSecond;
    for (const uint64_t live : bytes) made.host().timeline.buckets.push_back({live, live});
    return made;
  };
  // From the middle on, after a long start.
  CHECK(scene({0, 0, 0, 0, 0, 200'000, 400'000, 600'000, 800'000, 1'000'000}, 1'000'000).kinds() == "growth");
  CHECK(scene({0, 0, 0, 0, 0, 0, 0, 0, 500'000, 1'000'000}, 1'000'000).kinds().empty());  // too late to tell
  // Up to where all is freed, and no further: the fall is no part of it.
  const std::vector<uint64_t> freed{0, 0, 200'000, 400'000, 600'000, 800'000, 1'000'000, 1'200'000, 0, 0};
  const std::vector<Finding> found = scene(freed, 0).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kGrowth);
  CHECK_FALSE(found[0].is_left);
  CHECK(scene({0, 0, 250'000, 500'000, 750'000, 1'000'000, 0, 0, 0, 0}, 0).kinds().empty());  // long before its end
  // The program goes on without it: it let go by itself. A level above half is no such end.
  const auto rises_then = [&](uint64_t level) {
    std::vector<uint64_t> bytes;
    for (uint64_t i = 1; i <= 16; ++i) bytes.push_back(i * 100'000);
    bytes.insert(bytes.end(), 4, level);
    return scene(bytes, 0).kinds();
  };
  CHECK(rises_then(700'000).empty());
  CHECK(rises_then(900'000) == "growth");
}

TEST_CASE("what a program that frees nearly all leaves behind is a leak, however small") {
  const auto kinds = [](uint64_t count, uint64_t first_ns, uint64_t last_ns, uint64_t others_leaked = 0) {
    SizedNumbers n = blocks(count, 1000, true);
    n.first_leak_ns = first_ns;
    n.last_leak_ns = last_ns;
    SizedNumbers freed = blocks(1000, 100'000);
    freed.leaked_bytes = others_leaked;
    freed.leaked_blocks = others_leaked / 100'000;
    freed.first_leak_ns = freed.last_leak_ns = kSecond;
    return Scene().add({kWork, kMain}, n).add({kMain}, freed).kinds();
  };
  CHECK(kinds(100, kSecond, 5 * kSecond) == "small-never-freed");
  CHECK(kinds(60, kSecond, 5 * kSecond).empty());               // less than 64 KiB
  CHECK(kinds(100, kSecond, 2 * kSecond).empty());              // of one moment: a table
  CHECK(kinds(100, kSecond, 5 * kSecond, 500'000).empty());     // others left more
  CHECK(kinds(100, kSecond, 5 * kSecond, 40'000'000).empty());  // not all was freed
}

TEST_CASE("what one place leaves is a leak where all the others are freed, also as most of all that there was") {
  const auto kinds = [](uint64_t made, uint64_t left, uint64_t others_bytes, uint64_t others_left = 0) {
    SizedNumbers n = blocks(made, 24'000);
    n.leaked_blocks = left;
    n.leaked_bytes = left * 24'000;
    n.first_leak_ns = kSecond;
    n.last_leak_ns = 9 * kSecond;
    SizedNumbers freed = blocks(1, others_bytes);
    freed.leaked_bytes = others_left;
    freed.leaked_blocks = others_left == 0 ? 0 : 1;
    return Scene().add({kWork, kMain}, n).add({kMain}, freed).kinds();
  };
  CHECK(kinds(1500, 1100, 100'000) == "small-never-freed");  // on the way of an error, say: the others are freed
  CHECK(kinds(1500, 1100, 100'000, 6'000).empty());          // something else stays, too
  CHECK(kinds(1500, 1100, 30'000).empty());                  // there is nothing to compare with
  CHECK(kinds(1500, 20, 100'000).empty());                   // few
}

TEST_CASE("a place that is large for a short time is a spike, and a queue that fills and drains a backlog") {
  const auto scene = [](const std::vector<uint64_t>& bytes, uint64_t total_blocks) {
    SizedNumbers n = blocks(1000, 10'000);
    n.total_blocks = total_blocks;
    n.total_bytes = total_blocks * 10'000;
    n.lifetime_ns = total_blocks * kSecond;
    Scene made;
    made.add({kWork, kMain}, n).live(bytes);
    made.host().totals.peak_ns = 5 * kSecond + kSecond / 2;
    made.host().timeline.bucket_ns = kSecond;
    for (const uint64_t live : bytes) made.host().timeline.buckets.push_back({live, live});
    made.host().timeline.buckets[5] = {10'000'000, 10'000'000};
    return made;
  };
  const uint64_t low = 2'000'000;
  const uint64_t peak = 10'000'000;
  Scene once = scene({low, low, low, low, low, peak, low, low, low, low}, 1000);
  const std::vector<Finding> found = once.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kSpike);
  CHECK(found[0].later_bytes == low);
  CHECK(found[0].over_ns == kSecond);
  once.host().sites[0].suppressed_by = 1;
  CHECK(once.kinds().empty());
  CHECK(scene({low, low, low, low, peak, peak, peak, peak, peak, low}, 1000).kinds().empty());    // not short
  CHECK(scene({low, 7'000'000, low, low, low, peak, low, low, low, low}, 1000).kinds().empty());  // not once
  const std::vector<uint64_t> queue{0, 0, 2'500'000, 5'000'000, 7'500'000, peak, 7'500'000, 5'000'000, 2'500'000, 0};
  CHECK(scene(queue, 4000).kinds() == "backlog");
  CHECK(scene(queue, 1400).kinds() == "backlog");
  CHECK(scene(queue, 1332).kinds() == "spike");  // most of what it has at the peak is all that there ever was
  CHECK(scene({0, 0, 0, 0, 0, peak, 7'500'000, 5'000'000, 2'500'000, 0}, 4000).kinds() == "spike");  // filled at once
}

namespace {

// Blocks of one size that begin in each second, so many, and live so long: with the stays, bounds and curve of that.
struct Batch {
  uint64_t count = 0;
  uint32_t lives_seconds = 0;
};
Scene flow(const std::vector<Batch>& by_second) {
  constexpr uint64_t kEachBytes = 10'000;
  const auto seconds = static_cast<uint32_t>(by_second.size());
  std::vector<uint64_t> live(seconds);  // the most in each second
  std::vector<Stay> stays;
  SizedNumbers n;
  for (uint32_t second = 0; second < seconds; ++second) {
    const auto [count, lives_seconds] = by_second[second];
    if (count == 0) continue;
    const uint32_t end = std::min(second + lives_seconds, seconds - 1);
    stays.push_back({second, end, count * kEachBytes, count});
    for (uint32_t at = second; at <= end; ++at) live[at] += count * kEachBytes;
    n.total_blocks += count;
    n.lifetime_ns += count * lives_seconds * kSecond;
  }
  n.total_bytes = n.total_blocks * kEachBytes;
  const auto highest = std::max_element(live.begin(), live.end());
  n.peak_bytes = n.max_bytes = *highest;
  n.peak_blocks = n.max_blocks = *highest / kEachBytes;
  Scene made;
  made.add({kWork, kMain}, n).live(live);
  made.profile().run.duration_ns = seconds * kSecond;
  made.host().sites.back().stays = stays;
  for (uint32_t second = 0; second <= seconds; ++second) made.host().bounds_ns.push_back(second * kSecond);
  made.host().totals.peak_ns = static_cast<uint64_t>(highest - live.begin()) * kSecond;
  made.host().timeline.bucket_ns = kSecond;
  for (const uint64_t bytes : live) made.host().timeline.buckets.push_back({bytes, bytes});
  return made;
}

}  // namespace

TEST_CASE("blocks wait in a backlog the longer, the more there are; those that live for a fixed time are none") {
  // It accepts for fifteen seconds, and then no more: each session ends after five.
  std::vector<Batch> sessions(20, {200, 5});
  std::fill(sessions.begin() + 15, sessions.end(), Batch{});
  CHECK(flow(sessions).kinds().empty());
  std::vector<Batch> wave(24);  // more and fewer of them
  for (size_t i = 0; i < wave.size(); ++i) wave[i] = {40 * std::min<uint64_t>(i, 23 - i), 3};
  CHECK(flow(wave).kinds().empty());
  // The consumer is slower than the producer, who stops after twelve seconds.
  std::vector<Batch> queue(24);
  for (uint32_t i = 0; i < 12; ++i) queue[i] = {200, i * 2 / 3};
  CHECK(flow(queue).kinds() == "backlog");
}

TEST_CASE("a rush at the start is no start-up memory where the place goes on as in it") {
  const auto scene = [](Batch later) {
    std::vector<Batch> all(40, later);
    std::fill_n(all.begin(), 7, Batch{300, 4});
    return flow(all);
  };
  CHECK(scene({40, 4}).kinds().empty());
  CHECK(scene({40, 1}).kinds() == "start-peak");  // other blocks
  CHECK(scene({1, 4}).kinds() == "start-peak");   // hardly any
  CHECK(scene({0, 0}).kinds() == "start-peak");
}

TEST_CASE("a spike's amounts are from foot to foot, its time that of more than half of the peak") {
  const uint64_t peak = 10'000'000;
  const auto spike = [&](const std::vector<uint64_t>& bytes) {
    Scene made;
    made.add({kWork, kMain}, blocks(1000, 10'000)).live(bytes);
    made.host().totals.peak_ns = 5 * kSecond + kSecond / 2;
    made.host().timeline.bucket_ns = kSecond;
    for (const uint64_t live : bytes) made.host().timeline.buckets.push_back({live, live});
    const std::vector<Finding> found = made.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == FindingKind::kSpike);
    CHECK(found[0].over_ns == 2 * kSecond);
    return found[0].later_bytes;
  };
  CHECK(spike({0, 1'000'000, 3'000'000, 4'000'000, 5'000'000, peak, 6'000'000, 0, 0, 0}) == 1'000'000);
  // It does not go at once: before and after it there is as much.
  CHECK(spike({0, 1'000'000, 3'000'000, 4'000'000, 5'000'000, peak, 6'000'000, 5'000'000, 4'000'000, 0}) == 5'000'000);
}

TEST_CASE("what makes a spike from several lines of one function, or of what it calls, is that function's") {
  const auto found = [](std::initializer_list<Step> first, std::initializer_list<Step> second,
                        const std::vector<uint64_t>& second_bytes) {
    Scene made;
    const std::vector<uint64_t> spike{0, 0, 0, 0, 0, 10'000'000, 0, 0, 0, 0};
    made.add(first, blocks(1000, 10'000)).live(spike);
    made.add(second, blocks(600, 10'000));
    made.host().sites.back().live_bytes = second_bytes;
    made.host().totals.peak_ns = 5 * kSecond + kSecond / 2;
    made.host().timeline.bucket_ns = kSecond;
    for (size_t i = 0; i < spike.size(); ++i) {
      const uint64_t live = spike[i] + second_bytes[i] + 1'000'000;
      made.host().timeline.buckets.push_back({live, live});
    }
    std::vector<Finding> all = made.found();
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].kind == FindingKind::kSpike);
    return std::pair(all[0], made.profile().frames);
  };
  const Step fill{"fill", "/src/r.cc", 3};
  const Step print{"print", "/src/r.cc", 7};
  const std::vector<uint64_t> once{0, 0, 0, 0, 0, 6'000'000, 0, 0, 0, 0};
  {
    const auto [one, frames] =
        found({fill, {"report", "/src/r.cc", 10}, kMain}, {print, {"report", "/src/r.cc", 12}, kMain}, once);
    CHECK(frames[one.frame].function == "report");
    CHECK(frames[one.frame].line == 10);
    REQUIRE(one.other_lines.size() == 1);
    CHECK(frames[one.other_lines[0]].line == 12);
    CHECK(one.cost_bytes == 16'000'000);
    CHECK(one.cost_blocks == 1600);
    CHECK(one.without_bytes == 1'000'000);
    REQUIRE(one.callers.frames.size() == 1);
    CHECK(frames[one.callers.frames[0]].function == "main");
  }
  const auto is_of_fill = [](const auto& result) {
    return result.second[result.first.frame].function == "fill" && result.first.other_lines.empty() &&
           result.first.cost_bytes == 10'000'000;
  };
  // main() begins every stack, and explains nothing.
  CHECK(is_of_fill(found({fill, kMain}, {print, kMain}, once)));
  // It builds up before the spike, and stays after it: the other place is all that passes.
  const std::vector<uint64_t> stays{0, 0, 0, 0, 6'000'000, 6'000'000, 6'000'000, 6'000'000, 6'000'000, 0};
  CHECK(is_of_fill(
      found({fill, {"report", "/src/r.cc", 10}, kMain}, {print, {"report", "/src/r.cc", 12}, kMain}, stays)));
}

TEST_CASE("where it was judged only what is lost was never freed, whenever it was made") {
  const auto kinds = [](uint64_t count, uint64_t each_bytes, uint64_t lost, uint64_t indirectly = 0) {
    SizedNumbers n = blocks(count, each_bytes, true);
    n.first_leak_ns = kSecond;
    n.last_leak_ns = 2 * kSecond;
    n.lost_blocks = lost;
    n.lost_bytes = lost * each_bytes;
    n.indirectly_lost_blocks = indirectly;
    n.indirectly_lost_bytes = indirectly * each_bytes;
    n.reachable_blocks = count - lost - indirectly;
    n.reachable_bytes = n.reachable_blocks * each_bytes;
    Scene scene;
    scene.add({kWork, kMain}, n);
    scene.profile().run.leak_check.is_asked = true;
    scene.profile().run.leak_check.is_made = true;
    return scene.kinds();
  };
  CHECK(kinds(1000, 2000, 0).empty());  // all can still be reached
  CHECK(kinds(1000, 2000, 33) == "small-never-freed");
  CHECK(kinds(1000, 2000, 32).empty());  // less than 64 KiB
  CHECK(kinds(1000, 2000, 1, 32) == "small-never-freed");
  CHECK(kinds(3, 400'000, 1) == "never-freed");
}

TEST_CASE("what the end of a process takes is no part of a short run") {
  SizedNumbers n = blocks(10'000, 2000, true);
  n.first_leak_ns = 2'000'000;
  n.last_leak_ns = 6'000'000;
  Scene scene;
  scene.add({kWork, kMain}, n).profile().run.duration_ns = 25'000'000;
  CHECK(scene.kinds() == "small-never-freed");
  scene.profile().run.duration_ns = 29'000'000;
  CHECK(scene.kinds().empty());
}

TEST_CASE("a program that was stopped leaves nothing to say about what it never freed") {
  SizedNumbers n = blocks(4, 300'000, true);
  n.last_leak_ns = 9 * kSecond;
  Scene scene;
  scene.add({kWork, kMain}, n);
  REQUIRE(scene.kinds() == "never-freed");
  scene.profile().run.end = {EndKind::kSignaled, 15};
  CHECK(scene.kinds().empty());
  const std::vector<Unasked> unasked = find_unasked(scene.profile(), "");
  REQUIRE(unasked.size() >= 2);
  CHECK(unasked[unasked.size() - 2] == Unasked{FindingKind::kNeverFreed, "", Lack::kEnd});
  CHECK(unasked.back() == Unasked{FindingKind::kSmallNeverFreed, "", Lack::kEnd});
}

TEST_CASE("a peak of the start is found if the run lives far below it afterwards") {
  const auto scene = [](uint64_t peak_ns, const std::vector<uint64_t>& curve, uint64_t at_first_moment = 0) {
    Scene made;
    made.add({kWork, kMain}, blocks(1000, 10'000)).live({at_first_moment, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    made.add({{"index", "/src/i.cc", 1}, kMain}, blocks(1, 1'000'000));
    made.host().sites.back().live_bytes = std::vector<uint64_t>(10, 1'000'000);
    made.host().totals.peak_ns = peak_ns;
    made.host().timeline.bucket_ns = kSecond;
    for (const uint64_t bytes : curve) made.host().timeline.buckets.push_back({bytes, bytes});
    return made;
  };
  const uint64_t peak = 11'000'000;
  const uint64_t low = 1'000'000;
  Scene planted = scene(kSecond / 2, {peak, peak, 2 * low, low, low, low, low, low, low, low}, 9'000'000);
  const std::vector<Finding> found = planted.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kStartPeak);
  CHECK(planted.profile().frames[found[0].frame].function == "work()");
  CHECK(found[0].cost_bytes == 10'000'000);
  CHECK(found[0].from_ns == 2 * kSecond);
  CHECK(found[0].later_bytes == 2 * low);
  // It came down within the third second.
  const std::vector<Finding> within = scene(0, {peak, peak, 5 * low, low, low, low, low, low, low, low}).found();
  REQUIRE(within.size() == 1);
  CHECK(within[0].from_ns == 3 * kSecond);
  CHECK(within[0].later_bytes == low);
  // It came down within some of many stretches: these are left out as far as they are 1 % of the run.
  std::vector<uint64_t> curve(300, low);
  std::fill_n(curve.begin(), 40, peak);
  curve[40] = 5 * low;
  curve[41] = 4 * low;
  curve[42] = 3 * low;
  Scene slow = scene(0, curve);
  slow.host().timeline.bucket_ns = kSecond / 30;
  const std::vector<Finding> fallen = slow.found();
  REQUIRE(fallen.size() == 1);
  CHECK(fallen[0].later_bytes == low);
  CHECK(fallen[0].from_ns == 43 * (kSecond / 30));
  curve[43] = 3 * low;  // the fourth of 300
  Scene slower = scene(0, curve);
  slower.host().timeline.bucket_ns = kSecond / 30;
  REQUIRE(slower.found().size() == 1);
  CHECK(slower.found()[0].later_bytes == 5 * low);
  // The fifth is the last that may count.
  const std::vector<Finding> late = scene(0, {peak, peak, peak, peak, 5 * low, low, low, low, low, low}).found();
  REQUIRE(late.size() == 1);
  CHECK(late[0].later_bytes == 5 * low);
  CHECK(scene(2 * kSecond, {low, low, peak, peak, low, low, low, low, low, low}).kinds() == "start-peak");
  CHECK(scene(3 * kSecond, {low, low, low, peak, low, low, low, low, low, low}).kinds() == "spike");  // not the start
  CHECK(scene(kSecond, {low, peak, peak, peak, peak, low, low, low, low, low}).kinds().empty());      // half of the run
  CHECK(scene(0, {peak, low, low, low, low, low, low, low, low, peak * 6 / 10}).kinds().empty());     // and again
  CHECK(scene(0, {peak, low, low, low, low, low, low, low, low, low}).kinds() == "start-peak");
  CHECK(scene(0, {peak, low, low, low, low, low, low, low, low, low}, 9'000'000).kinds().empty());  // seen later
  Scene brief = scene(0, {peak, low, low, low, low, low, low, low, low, low});
  brief.profile().run.duration_ns = kShapeRunNs - 1;
  CHECK(brief.kinds().empty());
  Scene small = scene(0, {peak, low, low, low, low, low, low, low, low, low});
  small.host().totals.peak_bytes = kStartPeakBytes - 1;
  CHECK(small.kinds().empty());
  // Nobody looked later.
  Scene unseen = scene(0, {peak, low, low, low, low, low, low, low, low, low});
  for (uint64_t& moment_ns : unseen.host().moments_ns) moment_ns /= 1000;
  CHECK(unseen.kinds().empty());
}

TEST_CASE("that a place left what it had is said, and not that it grew, where the run is short") {
  Scene scene;
  SizedNumbers left = blocks(5'000, 400, true);
  left.first_leak_ns = kSecond / 100;
  left.last_leak_ns = kSecond * 9 / 10;
  scene.add({kWork, kMain}, left).live(rising(200'000));
  scene.profile().run.duration_ns = kGrowthRunNs - 1;
  for (uint64_t& moment_ns : scene.host().moments_ns) moment_ns /= 11;
  CHECK(scene.kinds() == "small-never-freed");
}

TEST_CASE("large blocks are found that were hardly used, by place") {
  constexpr uint64_t kMega = 1 << 20;
  const auto scene = [](uint64_t bytes, uint64_t untouched_bytes) {
    Scene made;
    made.add({kWork, kMain}, blocks(4, bytes / 4));
    made.add({kMain}, blocks(100, 50 * 1024));
    const uint32_t node = made.host().sites[0].node;
    made.host().untouched = {kSecond, untouched_bytes, bytes, {{node, untouched_bytes, bytes, 4}}};
    return made;
  };
  Scene large = scene(40 * kMega, 36 * kMega);
  const std::vector<Finding> found = large.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == FindingKind::kUntouched);
  CHECK(found[0].has_frame);
  CHECK(found[0].cost_bytes == 36 * kMega);
  CHECK(found[0].cost_blocks == 4);
  CHECK(found[0].at_peak_bytes == 40 * kMega);
  CHECK(found[0].seen_ns == kSecond);
  CHECK(rank_of(large.profile(), found[0]) == FindingRank::kPeak);
  CHECK(scene(40 * kMega, 19 * kMega).kinds().empty());  // more than half of it is used
  CHECK(scene(8 * kMega, 7 * kMega).kinds().empty());    // little
}

TEST_CASE("a spike of a helper counts what came and went, and names the caller for which it did") {
  const Step take{"take", "/src/take.cc", 3}, unpack{"unpack", "/src/unpack.cc", 9}, cache{"cache", "/src/cache.cc", 2};
  constexpr uint64_t kMega = 1 << 20;
  const std::vector<uint64_t> always(10, 25 * kMega);
  std::vector<uint64_t> once(10);
  once[5] = 30 * kMega;
  Scene made;
  made.add({take, cache, kMain}, blocks(1, 25 * kMega)).live(always);
  made.add({take, unpack, kMain}, blocks(1, 30 * kMega)).live(once);
  DeviceTotals& totals = made.host().totals;
  totals.peak_bytes = 55 * kMega;
  totals.peak_ns = 5 * kSecond + kSecond / 2;
  made.host().timeline.bucket_ns = kSecond;
  for (size_t i = 0; i < 10; ++i) made.host().timeline.buckets.push_back({always[i] + once[i], always[i] + once[i]});
  const std::vector<Finding> found = made.found();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].kind == FindingKind::kSpike);
  CHECK(found[0].cost_bytes == 30 * kMega);
  CHECK(found[0].without_bytes == 25 * kMega);
  REQUIRE(found[0].only_caller != kNoModule);
  CHECK(made.profile().frames[found[0].only_caller].function == "unpack");
}

TEST_CASE("memory that stays resident is found to the end of the run, and before a peak only where blocks pin it") {
  // 40 MiB at the peak, of which 32 stay.
  constexpr uint64_t kMega = 1 << 20;
  const auto scene = [](uint64_t empty_bytes, uint64_t pieces, uint64_t sparse_bytes, uint64_t from_ns) {
    Scene made;
    SizedNumbers n = blocks(400, 100 * 1024);
    made.add({kWork, kMain}, n);
    Fragmentation& it = made.host().fragmentation;
    it = {from_ns, from_ns + kSecond / 10, 36 * kMega, empty_bytes, pieces, sparse_bytes, {}};
    if (sparse_bytes != 0) it.pinning.push_back({made.host().sites[0].node, sparse_bytes, 1000});
    return made;
  };
  const std::vector<Finding> pinned = scene(30 * kMega, 1000, 2 * kMega, 5 * kSecond).found();
  REQUIRE(pinned.size() == 1);
  CHECK(pinned[0].kind == FindingKind::kFragmentation);
  CHECK(pinned[0].is_pinned);
  CHECK_FALSE(scene(30 * kMega, 100, kMega / 2, 5 * kSecond).found()[0].is_pinned);  // few blocks between large pieces
  CHECK(pinned[0].has_frame);
  CHECK(pinned[0].cost_bytes == 32 * kMega);
  CHECK(pinned[0].cost_blocks == 1000);
  CHECK(pinned[0].empty_bytes == 30 * kMega);
  const std::vector<Finding> sparse = scene(2 * kMega, 1, 30 * kMega, 5 * kSecond).found();
  REQUIRE(sparse.size() == 1);
  CHECK(sparse[0].is_pinned);
  const std::vector<Finding> whole = scene(32 * kMega, 1, 0, 5 * kSecond).found();
  REQUIRE(whole.size() == 1);
  CHECK_FALSE(whole[0].is_pinned);
  CHECK_FALSE(whole[0].has_frame);
  Scene ranked = scene(30 * kMega, 1000, 2 * kMega, 5 * kSecond);
  CHECK(rank_of(ranked.profile(), pinned[0]) < FindingRank::kPeak);
  CHECK(rank_of(ranked.profile(), whole[0]) > FindingRank::kPeak);
  CHECK(rank_of(ranked.profile(), whole[0]) < FindingRank::kSmall);
  CHECK(scene(7 * kMega, 7, kMega / 2, 5 * kSecond).kinds().empty());        // little
  CHECK(scene(11 * kMega, 11, kMega / 2, 5 * kSecond).kinds().empty());      // less than a third of what is resident
  CHECK(scene(30 * kMega, 1000, 2 * kMega, 9'500'000'000).kinds().empty());  // at the end alone
  CHECK(Scene().add({kWork, kMain}, blocks(400, 100 * 1024)).kinds().empty());
}
