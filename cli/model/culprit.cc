// cli/model/culprit.cc: blame goes to the user's own function that has most of what is too much, or grew most.
#include "cli/base/function_name.h"
#include "cli/model/frame_pattern.h"
#include "cli/model/verdict.h"

#include <algorithm>
#include <map>

namespace heapprof::cli {
namespace {

class Finder {
 public:
  Finder(const Budget& budget, const Profile& profile) : profile_(profile), tree_(fold_tree(profile)) {
    const FrameMatcher frames(profile);
    for (const SiteBudget& site : budget.sites) stacks_.push_back(frames.stacks_with(site.frames));
  }

  std::vector<Place> places(const Subject& subject) const {
    Device part;
    for (const Device& device : profile_.devices) {
      if (device.name != subject.device) continue;
      for (const Site& site : device.sites) {
        if (subject.site == Subject::kWhole || stacks_[subject.site][site.node]) part.sites.push_back(site);
      }
    }
    return find_places(profile_, tree_, part);
  }

  // Who they are, from one version of the program to the next: no lines, no addresses.
  std::string identity(const Place& place) const {
    if (!place.has_frame) return "";
    const Frame& frame = profile_.frames[place.frame];
    return plain_function(frame.function) + '\0' + module_name(frame);
  }

  Culprit describe(const Place& place, const std::string& root) const {
    Culprit culprit;
    if (!place.has_frame) return culprit;
    const Frame& frame = profile_.frames[place.frame];
    culprit.function = plain_function(frame.function);
    const bool is_below = !root.empty() && frame.file.starts_with(root + "/");
    culprit.file = is_below ? frame.file.substr(root.size() + 1) : frame.file;
    culprit.line = frame.line;
    culprit.module = module_name(frame);
    return culprit;
  }

 private:
  std::string module_name(const Frame& frame) const {
    if (frame.module >= profile_.modules.size()) return "";
    const std::string& path = profile_.modules[frame.module].path;
    return path.substr(path.rfind('/') + 1);
  }

  const Profile& profile_;
  FoldedTree tree_;
  std::vector<std::vector<bool>> stacks_;
};

std::optional<Culprit> largest(const Finder& finder, const Subject& subject, const std::string& root) {
  const std::vector<Place> places = finder.places(subject);
  uint64_t sum = 0;
  for (const Place& place : places) sum += place.numbers.metric(subject.metric);
  const std::vector<uint32_t> order = rank_places(places, subject.metric);
  if (order.empty()) return std::nullopt;
  Culprit culprit = finder.describe(places[order[0]], root);
  culprit.value = places[order[0]].numbers.metric(subject.metric);
  culprit.whole = sum;
  return culprit;
}

std::optional<Culprit> most_grown(const Finder& finder, const Finder& base, const Subject& subject,
                                  const std::string& root) {
  std::map<std::string, uint64_t> before;
  for (const Place& place : base.places(subject)) before[base.identity(place)] += place.numbers.metric(subject.metric);
  std::map<std::string, uint64_t> now;
  const std::vector<Place> places = finder.places(subject);
  for (const Place& place : places) now[finder.identity(place)] += place.numbers.metric(subject.metric);
  uint64_t growth = 0;
  uint64_t most = 0;
  std::string worst;
  for (const auto& [identity, value] : now) {
    const uint64_t more = value - std::min(value, before[identity]);
    growth += more;
    if (more > most) {
      most = more;
      worst = identity;
    }
  }
  if (most == 0) return std::nullopt;
  for (const uint32_t index : rank_places(places, subject.metric)) {
    if (finder.identity(places[index]) != worst) continue;
    Culprit culprit = finder.describe(places[index], root);
    culprit.value = most;
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
    if (line.outcome == Outcome::kOk || line.reason == Reason::kBelowExpected) continue;
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
