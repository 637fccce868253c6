// cli/run/top_names.cc: to recognise wrapper functions, all of a program's allocations are needed
// (cli/model/analysis/folding.h). So the places of all sites are found at once, as in a report.
//
// The profile is not made canonical, because that merges sites, and here each site has to be found again by its index.
#include "cli/run/top_names.h"

#include "cli/model/analysis/places.h"
#include "cli/model/profile/assemble_steps.h"
#include "cli/write/text/place_text.h"

#include <map>
#include <utility>

namespace heapprof::cli {

namespace {

Profile profile_in_order(const Recording& recording, const SymbolTable& symbols) {
  Profile profile;
  profile.run = recording.run;
  const std::vector<uint32_t> frame_start = add_frames(recording, symbols, &profile);
  const std::vector<uint32_t> node_of = add_nodes(recording, frame_start, nullptr, &profile);
  for (const RecordedDevice& recorded : recording.devices) {
    Device& device = profile.devices.emplace_back(make_device_without_sites(recorded));
    device.refusals.clear();  // not needed here, and their nodes are numbered as in the recording
    device.unseen = {};
    device.names.clear();
    device.sites.reserve(recorded.sites.size());
    for (const RecordedSite& from : recorded.sites) {
      device.sites.push_back(make_site(recorded, from));
      device.sites.back().node = from.stack < node_of.size() ? node_of[from.stack] : 0;
    }
  }
  return profile;
}

}  // namespace

TopNames name_top_sites(const Recording& recording, const SymbolTable& symbols, const SiteIds& ids,
                        const FoldRules& folds) {
  Profile profile = profile_in_order(recording, symbols);
  PlaceTree tree;
  mark_folded(folds, &profile, &tree);
  const FrameNames words(profile, tree);
  TopNames names;
  names.place_of_site.assign(ids.count, 0);
  std::map<std::pair<std::string, std::string>, uint32_t> known;
  for (size_t i = 0; i < profile.devices.size(); ++i) {
    for (const Place& place : find_places(profile, tree, profile.devices[i])) {
      const TopPlace named = {words.place_function(place), words.place_location(place)};
      const auto [at, is_new] =
          known.try_emplace({named.function, named.location}, static_cast<uint32_t>(names.places.size() + 1));
      if (is_new) names.places.push_back(named);
      for (const uint32_t index : place.sites) names.place_of_site[ids.by_device[i][index]] = at->second;
    }
  }
  if (!names.place_of_site.empty()) names.place_of_site[0] = 0;
  return names;
}

}  // namespace heapprof::cli
