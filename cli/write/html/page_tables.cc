// cli/write/html/page_tables.cc: decides which frames are hidden, and the place of each site. The page could compute
// these itself, but reports and page must agree.
#include "cli/write/html/page_parts.h"

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kInlined = 1;
constexpr uint64_t kOthers = 2;
constexpr uint64_t kReserve = 1;

// The nodes that are shown, as in the report's call tree: the user's own frames, and for stacks without such frames,
// the frame that names the place.
std::vector<bool> find_shown_nodes(const Profile& profile, const PlaceTree& tree) {
  std::vector<bool> shown(profile.nodes.size());
  for (const Device& device : profile.devices) {
    for (const Site& site : device.sites) {
      const uint32_t node = tree.place_node[site.node];
      if (tree.user_node[node] == 0) shown[node] = true;
    }
  }
  for (uint32_t node = 1; node < shown.size(); ++node) {
    if (tree.user_node[node] == node) shown[node] = true;
  }
  return shown;
}

}  // namespace

PageColumns page_tree(const Profile& profile, const PlaceTree& tree, const FrameNames& names, PageTexts* texts) {
  PageColumns columns;
  columns.add(profile.frames.size());
  columns.add(profile.nodes.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) columns.add(texts->number_of(names.function(i)));
  for (uint32_t i = 0; i < profile.frames.size(); ++i) columns.add(texts->number_of(names.location(i)));
  columns.column(profile.frames, [&](const Frame& frame) {
    return texts->number_of(frame.module == kNoModule ? "" : profile.modules[frame.module].path);
  });
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const bool is_others = tree.kinds[i] != FrameKind::kUser && tree.kinds[i] != FrameKind::kUnknown;
    columns.add((profile.frames[i].inlined ? kInlined : 0) | (is_others ? kOthers : 0));
  }
  columns.column(tree.functions, [](uint32_t function) { return function; });
  const std::vector<bool> shown = find_shown_nodes(profile, tree);
  for (uint32_t i = 1; i < profile.nodes.size(); ++i) columns.add(i - profile.nodes[i].parent);
  for (uint32_t i = 1; i < profile.nodes.size(); ++i) columns.add(profile.nodes[i].frame);
  for (uint32_t i = 1; i < profile.nodes.size(); ++i) columns.add(shown[i] ? 1 : 0);
  return columns;
}

PageColumns page_sites(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       PageTexts* texts) {
  const std::vector<Place> places = find_places(profile, tree, device);
  std::vector<uint32_t> place_of(device.sites.size());
  for (uint32_t i = 0; i < places.size(); ++i) {
    for (const uint32_t site : places[i].sites) place_of[site] = i;
  }
  PageColumns columns;
  columns.add(places.size());
  columns.add(device.sites.size());
  columns.column(places, [&](const Place& place) { return texts->number_of(names.place_function(place)); });
  columns.column(places, [&](const Place& place) { return texts->number_of(names.place_location(place)); });
  columns.column(places, [](const Place& place) { return place.is_reserve ? kReserve : 0; });
  const auto number = [&](uint64_t SiteNumbers::*field) {
    columns.column(device.sites, [field](const Site& site) { return site.numbers.*field; });
  };
  columns.column(device.sites, [](const Site& site) { return site.node; });
  columns.column(device.sites, [&](const Site& site) { return tree.place_node[site.node]; });
  columns.column(place_of, [](uint32_t place) { return place; });
  number(&SiteNumbers::peak_bytes);
  number(&SiteNumbers::peak_blocks);
  number(&SiteNumbers::total_bytes);
  number(&SiteNumbers::total_blocks);
  number(&SiteNumbers::leaked_bytes);
  number(&SiteNumbers::leaked_blocks);
  columns.column(device.sites, [](const Site& site) { return site.suppressed_by != 0 ? 1 : 0; });
  number(&SiteNumbers::temporary_blocks);
  number(&SiteNumbers::lifetime_ns);
  columns.add(device.bounds_ns.size());
  columns.deltas(device.bounds_ns, [](uint64_t bound) { return bound; });
  if (device.bounds_ns.empty()) return columns;
  for (const Site& site : device.sites) {
    columns.add(site.stays.size());
    for (const Stay& stay : site.stays) {
      columns.add(stay.begin);
      columns.add(stay.end);
      columns.add(stay.bytes);
      columns.add(stay.blocks);
    }
  }
  return columns;
}

Timeline fitted_timeline(const Timeline& timeline) {
  const size_t together = (timeline.buckets.size() + kMostPageBuckets - 1) / kMostPageBuckets;
  if (together <= 1) return timeline;
  Timeline fitted;
  fitted.bucket_ns = timeline.bucket_ns * together;
  for (size_t i = 0; i < timeline.buckets.size(); ++i) {
    const Timeline::Bucket& bucket = timeline.buckets[i];
    if (i % together == 0) fitted.buckets.push_back(bucket);
    Timeline::Bucket& sum = fitted.buckets.back();
    sum = {std::min(sum.min_bytes, bucket.min_bytes), std::max(sum.max_bytes, bucket.max_bytes)};
  }
  return fitted;
}

PageColumns page_timeline(const Timeline& timeline) {
  PageColumns columns;
  columns.add(timeline.buckets.size());
  columns.deltas(timeline.buckets, [](const Timeline::Bucket& bucket) { return bucket.min_bytes; });
  columns.deltas(timeline.buckets, [](const Timeline::Bucket& bucket) { return bucket.max_bytes; });
  return columns;
}

}  // namespace heapprof::cli
