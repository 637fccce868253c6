// cli/model/analysis/python/packages.cc: one pass over the nodes: a frame says of which package it is, or it is of the
// one that its caller is of. The machinery that imports a module asks for the module it loads, so it says nothing.
#include "cli/model/analysis/python/packages.h"

#include "cli/model/analysis/python/frames.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

class Packages {
 public:
  explicit Packages(const Profile& profile) : profile_(profile), frames_(profile) {
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

}  // namespace

std::vector<Package> find_packages(const Profile& profile, const Device& device, Metric metric) {
  if (!has_python(profile)) return {};
  std::vector<Package> packages = Packages(profile).sum(device);
  std::stable_sort(packages.begin(), packages.end(), [metric](const Package& a, const Package& b) {
    return std::make_pair(a.numbers.metric(metric), a.numbers.total_bytes) >
           std::make_pair(b.numbers.metric(metric), b.numbers.total_bytes);
  });
  return packages;
}

}  // namespace heapprof::cli
