// tests/support/finding_scene.h: profiles of a few sites, made by hand, for the tests of findings.
#pragma once

#include "cli/model/analysis/findings.h"
#include "tests/support/scene_profile.h"

#include <string>
#include <vector>

namespace heapprof::test {

inline constexpr uint64_t kSecond = 1'000'000'000;
using Step = ScenePlan::Step;

inline const Step kMain{"main", "/src/main.cc", 3};
inline const Step kWork{"work()", "/src/work.cc", 7};

// Blocks of one size that are live at the peak, and all of them if `leaked`.
inline SizedNumbers blocks(uint64_t count, uint64_t each_bytes, bool leaked = false) {
  SizedNumbers n;
  n.total_blocks = n.peak_blocks = n.max_blocks = count;
  n.total_bytes = n.peak_bytes = n.max_bytes = count * each_bytes;
  n.sizes.set(size_bucket(each_bytes), count);
  if (leaked) n.leaked_blocks = count;
  if (leaked) n.leaked_bytes = count * each_bytes;
  return n;
}

// So many blocks, one after another.
inline SizedNumbers one_by_one(uint64_t count, uint64_t each_bytes, uint64_t at_once = 1) {
  SizedNumbers n = blocks(count, each_bytes);
  n.peak_blocks = n.max_blocks = at_once;
  n.peak_bytes = n.max_bytes = at_once * each_bytes;
  n.temporary_blocks = count;
  return n;
}

class Scene {
 public:
  Scene() {
    plan_.add_device("host");
    plan_.profile().run.duration_ns = 10 * kSecond;
  }
  Scene& add(std::initializer_list<Step> innermost_first, const SizedNumbers& numbers) {
    plan_.add_site(innermost_first, numbers);
    Site& site = host().sites.back();
    if (numbers.max_bytes > 0) site.numbers.max_bytes = numbers.max_bytes;
    return *this;
  }
  // Of the site added last, at 1 s, 2 s … 10 s.
  Scene& live(const std::vector<uint64_t>& bytes) {
    host().moments_ns.clear();
    for (size_t i = 0; i < bytes.size(); ++i) host().moments_ns.push_back((i + 1) * 10 * kSecond / bytes.size());
    host().sites.back().live_bytes = bytes;
    return *this;
  }
  Device& host() { return plan_.profile().devices[0]; }
  Profile& profile() { return plan_.profile(); }
  std::vector<Finding> found() { return find_findings(profile(), build_place_tree(profile())); }
  std::string kinds() {
    std::string kinds;
    for (const Finding& finding : found())
      kinds += (kinds.empty() ? "" : " ") + std::string(finding_name(finding.kind));
    return kinds;
  }

 private:
  ScenePlan plan_;
};

inline std::vector<uint64_t> rising(uint64_t step_bytes, size_t until = 10) {
  std::vector<uint64_t> bytes;
  for (size_t i = 1; i <= 10; ++i) bytes.push_back(step_bytes * std::min(i, until));
  return bytes;
}

}  // namespace heapprof::test
