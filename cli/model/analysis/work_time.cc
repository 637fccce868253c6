// cli/model/analysis/work_time.cc: the part of a run in which the program does its work: after Python's imports at the
// start, and before the program frees its memory to exit.
//
// How much of the run the imports take depends on the machine: torch takes 1.3 s of a script's 4 s, and 10 s of 14 on a
// busy machine. Rules that consider only the work give the same answer on both machines. Imports are identified by
// their places ("import torch").
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/python/paths.h"

#include <algorithm>

namespace heapprof::cli {

uint64_t imports_end_ns(const FindingScene& scene) {
  constexpr uint64_t kPercent = 1;      // of the imports' memory; smaller steps do not extend the start
  constexpr uint64_t kOthersPart = 20;  // of the peak
  const auto is_import = [&](const Place& place) {
    return place.has_frame && is_python_mark(scene.profile, scene.profile.frames[place.frame]);
  };
  if (std::none_of(scene.places.begin(), scene.places.end(), is_import)) return 0;
  std::vector<LivePoint> imports;
  std::vector<LivePoint> others;
  for (const Place& place : scene.places) {
    std::vector<LivePoint>& sum = is_import(place) ? imports : others;
    const std::vector<LivePoint> series = live_series(scene, place);
    sum.resize(std::max(sum.size(), series.size()));
    for (size_t i = 0; i < series.size(); ++i)
      sum[i] = {series[i].at_ns, add_saturating(sum[i].bytes, series[i].bytes)};
  }
  if (imports.empty()) return 0;
  others.resize(imports.size());
  const uint64_t most_bytes =
      std::max_element(imports.begin(), imports.end(), [](const LivePoint& a, const LivePoint& b) {
        return a.bytes < b.bytes;
      })->bytes;
  uint64_t end_ns = 0;
  for (size_t i = 0; i < imports.size(); ++i) {
    const uint64_t gap_ns = std::max(end_ns / 2, scene.profile.run.duration_ns / 4);
    if (imports[i].at_ns > end_ns + gap_ns || others[i].bytes > scene.device.totals.peak_bytes / kOthersPart) break;
    const uint64_t before = i == 0 ? 0 : imports[i - 1].bytes;
    if (imports[i].bytes <= before || !is_share({imports[i].bytes - before, most_bytes}, kPercent)) continue;
    end_ns = imports[i].at_ns;
  }
  return end_ns;
}

uint64_t drain_start_ns(const Profile& profile, const Device& device) {
  const uint64_t duration_ns = profile.run.duration_ns;
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  uint64_t level = 0;  // highest in the second half of the run
  for (size_t i = buckets.size() / 2; i < buckets.size(); ++i) level = std::max(level, buckets[i].max_bytes);
  if (!is_exited_run(profile) || device.totals.leaked_bytes > level / 2) return duration_ns;
  size_t last = buckets.size();
  while (last > 0 && buckets[last - 1].max_bytes < level / 5 * 4) --last;
  const uint64_t start_ns = std::min(duration_ns, last * device.timeline.bucket_ns);
  return start_ns >= duration_ns / 10 * 9 ? start_ns : duration_ns;
}

}  // namespace heapprof::cli
