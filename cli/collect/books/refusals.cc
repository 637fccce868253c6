// cli/collect/books/refusals.cc: see refusals.h.
#include "cli/collect/books/refusals.h"

#include "cli/model/profile/device_facts.h"

#include <algorithm>
#include <iterator>

namespace heapprof::cli {

namespace {

// The sites with the most live bytes on the device now.
std::vector<std::pair<uint32_t, Amount>> largest_live_sites(const SiteBook& sites) {
  std::vector<std::pair<uint32_t, Amount>> live_sites;
  for (uint32_t site = 1; site < sites.size(); ++site) {
    if (sites[site].live.blocks != 0) live_sites.emplace_back(site, sites[site].live);
  }
  const auto is_larger = [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  };
  const auto end = live_sites.begin() + static_cast<std::ptrdiff_t>(std::min(live_sites.size(), kMostLiveSites));
  std::partial_sort(live_sites.begin(), end, live_sites.end(), is_larger);
  live_sites.erase(end, live_sites.end());
  return live_sites;
}

}  // namespace

void Refusals::note(const DeviceEvent& device_event, const Event& event, const SiteBook& held, uint64_t now_ticks) {
  auto same =
      std::find_if(sites.begin(), sites.end(), [&event](const RefusedSite& known) { return known.site == event.site; });
  if (same == sites.end()) {
    if (sites.size() >= kMostSites) {
      ++elsewhere;
      return;
    }
    sites.push_back({});
    same = std::prev(sites.end());
    same->site = event.site;
    same->first_ticks = now_ticks;
    same->first_number = count + 1;
  }
  ++same->count;
  if (wire::is_refusal_by_limit(device_event.object)) ++same->by_limit_count;
  same->last_ticks = now_ticks;
  same->last_number = ++count;
  same->size_bytes = event.size_bytes;
  same->free_bytes = wire::free_of(device_event.address);
  same->live = held.totals().live;
  same->live_sites.clear();
  looks += held.size();
  if (looks <= kMostLooks) same->live_sites = largest_live_sites(held);
}

}  // namespace heapprof::cli
