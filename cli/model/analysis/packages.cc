// cli/model/analysis/packages.cc: one pass over the nodes. A frame that belongs to no package counts for its caller's.
// The import machinery belongs to no package, because it allocates for the module that it loads.
#include "cli/model/analysis/packages.h"

#include "cli/model/analysis/library_code.h"
#include "cli/model/analysis/python/frames.h"
#include "cli/model/analysis/script_frames.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

class PythonPackages {
 public:
  explicit PythonPackages(const Profile& profile) : profile_(profile), frames_(profile) {
    number_of(std::string(kOtherCode));
    number_of(std::string(kInterpreterItself));
    of_frame_.assign(profile.frames.size(), kNotAsked);
    of_node_.resize(profile.nodes.size());
    for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
      const uint32_t frame = profile.nodes[node].frame;
      if (of_frame_[frame] == kNotAsked) of_frame_[frame] = find(frame);
      const uint32_t outer = of_node_[profile.nodes[node].parent];
      const uint32_t here = of_frame_[frame];
      of_node_[node] = here == kSaysNothing || (here == kInterpreter && outer != kOthers) ? outer : here;
    }
  }

  std::vector<Package> sum(const Device& device) const {
    std::vector<Package> packages(names_.size());
    for (uint32_t i = 0; i < names_.size(); ++i) packages[i].name = names_[i];
    for (const Site& site : device.sites) packages[of_node_[site.node]].numbers.add(site);
    std::erase_if(packages, [](const Package& package) { return package.numbers.total_blocks == 0; });
    return packages;
  }

 private:
  static constexpr uint32_t kOthers = 0;
  static constexpr uint32_t kInterpreter = 1;
  static constexpr uint32_t kSaysNothing = 0xffffffff;
  static constexpr uint32_t kNotAsked = 0xfffffffe;

  uint32_t number_of(const std::string& name) {
    const auto [known, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return known->second;
  }

  uint32_t find(uint32_t index) {
    const Frame& frame = profile_.frames[index];
    const PythonPaths& paths = frames_.paths();
    switch (frames_.of_frame(index)) {
      case PythonFrame::kOwn: return number_of(std::string(kOwnCode));
      case PythonFrame::kPackage: return named(paths.package(frame.file));
      case PythonFrame::kStandard: return number_of(std::string(kStandardLibrary));
      case PythonFrame::kLibrary:
        if (paths.object(frame.module) == ObjectOrigin::kStandard) return number_of(std::string(kStandardLibrary));
        return named(paths.package_of_object(frame.module));
      case PythonFrame::kMark:
        return frame.function == kPythonStartMark ? number_of(std::string(kInterpreterItself)) : kSaysNothing;
      case PythonFrame::kEvaluator:
      case PythonFrame::kInterpreter: return kInterpreter;
      case PythonFrame::kHost:
      case PythonFrame::kImport:
      case PythonFrame::kGenerated:
      case PythonFrame::kHidden:
      case PythonFrame::kSmallSites: return kSaysNothing;
    }
    return kSaysNothing;
  }
  uint32_t named(const std::string& name) { return name.empty() ? kSaysNothing : number_of(name); }

  const Profile& profile_;
  PythonFrames frames_;
  std::vector<uint32_t> of_frame_;
  std::vector<uint32_t> of_node_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> numbers_;
};

// Sums by library, for a program without Python.
std::vector<Package> sum_by_library(const Profile& profile, const PlaceTree& tree, const Device& device) {
  constexpr uint32_t kOwn = 0;
  constexpr uint32_t kOthers = 1;  // also for frames without a package
  std::vector<Package> packages = {{std::string(kOwnCode), {}}, {std::string(kOtherCode), {}}};
  std::map<std::string, uint32_t> numbers;
  const LibraryNames libraries(profile, tree.owners);
  const std::vector<FrameRole> roles = frame_roles(profile);
  std::vector<uint32_t> of_frame(profile.frames.size(), kOthers);
  for (uint32_t frame = 0; frame < of_frame.size(); ++frame) {
    const bool is_of_program = roles[frame] == FrameRole::kOther || roles[frame] == FrameRole::kScript;
    if (tree.kinds[frame] != FrameKind::kUser || !is_of_program) continue;
    if (tree.owners[frame] == CodeOwner::kUser) of_frame[frame] = kOwn;
    const std::string name = libraries.of(frame);
    if (name.empty()) continue;
    const auto [known, is_new] = numbers.try_emplace(name, static_cast<uint32_t>(packages.size()));
    if (is_new) packages.push_back({name, {}});
    of_frame[frame] = known->second;
  }
  std::vector<uint32_t> of_node(profile.nodes.size(), kOthers);
  for (uint32_t node = 1; node < of_node.size(); ++node) {
    const uint32_t here = of_frame[profile.nodes[node].frame];
    of_node[node] = here == kOthers ? of_node[profile.nodes[node].parent] : here;
  }
  for (const Site& site : device.sites) packages[of_node[site.node]].numbers.add(site);
  std::erase_if(packages, [](const Package& package) { return package.numbers.total_blocks == 0; });
  if (numbers.empty() || packages.size() < 2) packages.clear();
  return packages;
}

}  // namespace

std::vector<Package> find_packages(const Profile& profile, const PlaceTree& tree, const Device& device, Metric metric) {
  if (profile.dialect != Dialect::kHeapprof) return {};
  std::vector<Package> packages =
      has_python(profile) ? PythonPackages(profile).sum(device) : sum_by_library(profile, tree, device);
  std::stable_sort(packages.begin(), packages.end(), [metric](const Package& a, const Package& b) {
    return std::make_pair(a.numbers.metric(metric), a.numbers.total_bytes) >
           std::make_pair(b.numbers.metric(metric), b.numbers.total_bytes);
  });
  return packages;
}

}  // namespace heapprof::cli
