// cli/model/analysis/findings_lost.cc: finds the owners of lost memory.
//
// The place that lost most bytes is often not the one to fix: the meshes of a scene are lost because its nodes are, and
// the nodes because each points to its parent. If owners are known, a finding is about the owner and includes all that
// it owns. The places of owned memory then get no finding of their own.
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/lost_owners.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {
namespace {

// If large owners account for less than this share of the lost memory, findings are made by place instead.
constexpr uint64_t kOwnedPercent = 50;

bool is_large_story(const LostStory& story) { return !story.frames.empty() && story.bytes >= kLostBytes; }

Finding finding_of(const FindingScene& scene, LostStory story) {
  Finding finding;
  finding.each_bytes = story.blocks == 0 ? 0 : story.bytes / story.blocks;
  finding.kind = finding.each_bytes >= kNeverFreedEachBytes ? FindingKind::kNeverFreed : FindingKind::kSmallNeverFreed;
  finding.device = scene.device_number;
  finding.has_frame = story.frames[0] != kNoModule;
  if (finding.has_frame) finding.frame = story.frames[0];
  finding.callers = std::move(story.callers);
  finding.cost_bytes = story.bytes;
  finding.cost_blocks = story.blocks;
  finding.all_blocks = story.all_blocks;
  finding.over_ns = story.over_ns;
  finding.share = {story.bytes, scene.device.totals.peak_bytes};
  finding.is_lost = true;
  finding.owners = story.owners;
  finding.is_cycle = story.is_cycle;
  finding.is_counted = story.is_counted;
  if (story.is_cycle) finding.cycle_frames.assign(story.frames.begin() + 1, story.frames.end());
  return finding;
}

// Removes growth findings of places that lost memory, so that it is not reported twice.
void drop_growth_of_lost(const FindingScene& scene, std::vector<Finding>* findings) {
  for (const Place& place : scene.places) {
    const uint64_t lost_bytes = add_saturating(place.numbers.lost_bytes, place.numbers.indirectly_lost_bytes);
    if (lost_bytes < kLostBytes) continue;
    std::erase_if(*findings, [&](const Finding& finding) { return is_growth_of(finding, scene, place); });
  }
}

}  // namespace

bool find_lost_by_owner(const FindingScene& scene, std::vector<Finding>* findings) {
  std::vector<LostStory> stories = find_lost_stories(scene.profile, scene.tree, scene.device);
  uint64_t owned_bytes = 0;
  for (const LostStory& story : stories) {
    if (is_large_story(story)) owned_bytes = add_saturating(owned_bytes, story.bytes);
  }
  const PlaceNumbers all = sum_of_sites(scene.device);
  const uint64_t lost_bytes = add_saturating(all.lost_bytes, all.indirectly_lost_bytes);
  if (owned_bytes == 0 || !is_share({owned_bytes, lost_bytes}, kOwnedPercent)) return false;
  drop_growth_of_lost(scene, findings);
  for (LostStory& story : stories) {
    if (is_large_story(story)) findings->push_back(finding_of(scene, std::move(story)));
  }
  return true;
}

}  // namespace heapprof::cli
