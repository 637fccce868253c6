// cli/model/judge/culprit.cc: names the user function with the largest part of the exceeded metric, or with the largest
// growth.
#include "cli/base/file_name.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/compare/diff.h"
#include "cli/model/judge/verdict.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

class Finder {
 public:
  Finder(const Budget& budget, const Profile& profile)
      : budget_(budget), profile_(profile), tree_(build_place_tree(profile)), frames_(profile) {}

  std::vector<Place> places(const Subject& subject) const {
    const std::vector<bool> stacks = stacks_of(subject);
    Device part;
    for (const Device& device : profile_.devices) {
      if (device.name != subject.device) continue;
      for (const Site& site : device.sites) {
        if (stacks.empty() || stacks[site.node]) part.sites.push_back(site);
      }
    }
    return find_places(profile_, tree_, part);
  }

  // A copy of the profile with only the sites that the subject is about, for a comparison.
  Profile part(const Subject& subject) const {
    Profile part = profile_;
    std::erase_if(part.devices, [&](const Device& device) { return device.name != subject.device; });
    const std::vector<bool> stacks = stacks_of(subject);
    if (stacks.empty()) return part;
    for (Device& device : part.devices)
      std::erase_if(device.sites, [&](const Site& site) { return !stacks[site.node]; });
    return part;
  }

  Culprit describe(uint32_t index, const std::string& root) const {
    Culprit culprit;
    const Frame& frame = profile_.frames[index];
    culprit.function = is_reserve_frame(index) ? std::string(kReserveName) : frame_name(profile_, frame);
    const bool is_below = !root.empty() && frame.file.starts_with(root + "/");
    culprit.file = is_below ? frame.file.substr(root.size() + 1) : frame.file;
    culprit.line = frame.line;
    culprit.module = module_name(frame);
    return culprit;
  }

 private:
  // For each node, whether it counts. Empty for a device as a whole.
  std::vector<bool> stacks_of(const Subject& subject) const {
    if (subject.subtree == Subject::kWhole) return {};
    return frames_.stacks_with(budget_.subtrees[subject.subtree].frames);
  }

  bool is_reserve_frame(uint32_t index) const {
    const std::vector<uint32_t> frames = find_reserve_frames(profile_);
    return std::find(frames.begin(), frames.end(), index) != frames.end();
  }

  std::string module_name(const Frame& frame) const {
    if (frame.module >= profile_.modules.size()) return "";
    return base_name(profile_.modules[frame.module].path);
  }

  const Budget& budget_;
  const Profile& profile_;
  PlaceTree tree_;
  FrameMatcher frames_;
};

std::optional<Culprit> largest(const Finder& finder, const Subject& subject, const std::string& root) {
  const std::vector<Place> places = finder.places(subject);
  uint64_t sum = 0;
  for (const Place& place : places) sum += place.numbers.metric(subject.metric);
  const std::vector<uint32_t> order = rank_places(places, subject.metric);
  if (order.empty()) return std::nullopt;
  const Place& place = places[order[0]];
  Culprit culprit = place.has_frame ? finder.describe(place.frame, root) : Culprit();
  culprit.value = places[order[0]].numbers.metric(subject.metric);
  culprit.whole = sum;
  return culprit;
}

// Compares by function and call path (cli/model/compare/diff.h), so that a renamed file or a moved line does not count
// as growth.
std::optional<Culprit> most_grown(const Finder& finder, const Finder& base, const Subject& subject,
                                  const std::string& root) {
  const BySide<Profile> parts = {base.part(subject), finder.part(subject)};
  const ProfileDiff diff = diff_profiles(parts[kBase], parts[kCurrent]);
  for (const DeviceChange& device : diff.devices) {
    if (device.name != subject.device) continue;
    uint64_t growth = 0;
    const PlaceChange* most = nullptr;
    for (const PlaceChange& place : device.places) {
      const Change change = place.change(subject.metric);
      if (!change.is_growth()) continue;
      growth += change.amount();
      if (most == nullptr || change.amount() > most->change(subject.metric).amount()) most = &place;
    }
    if (most == nullptr) return std::nullopt;
    const std::vector<ChangedFrame> frames =
        find_changed_frames({&parts[kBase], &parts[kCurrent]}, diff.trees, device, subject.metric);
    const ChangedFrame changed = frames[static_cast<size_t>(most - device.places.data())];  // of current: it grew
    const bool is_there = changed.frame != kNoFrame && changed.side == kCurrent;
    Culprit culprit = is_there ? finder.describe(changed.frame, root) : Culprit();
    culprit.value = most->change(subject.metric).amount();
    culprit.whole = growth;
    culprit.is_growth = true;
    return culprit;
  }
  return std::nullopt;
}

}  // namespace

void find_culprits(const Budget& budget, const Profile& profile, const Profile* baseline, const std::string& root,
                   std::vector<Judged>* judged) {
  std::optional<Finder> finder;
  std::optional<Finder> base;
  for (Judged& line : *judged) {
    if (line.outcome == Outcome::kOk || line.reason == Reason::kBelowExpected || line.subject.scope) continue;
    if (!finder) finder.emplace(budget, profile);
    if (baseline != nullptr && line.reason == Reason::kOverBaseline) {
      if (!base) base.emplace(budget, *baseline);
      line.culprit = most_grown(*finder, *base, line.subject, root);
    } else {
      line.culprit = largest(*finder, line.subject, root);
    }
  }
}

}  // namespace heapprof::cli
