// cli/collect/recorded_stays.cc: converts serial numbers of bounds to positions in a list, and sites of the book to
// those of the recording.
#include "cli/collect/memory/growing_array.h"
#include "cli/collect/recorded_parts.h"

#include <algorithm>
#include <tuple>

namespace heapprof::cli {
namespace {

std::tuple<uint32_t, uint32_t, uint32_t> key_of(const RecordedStay& stay) {
  return {stay.site, stay.stay.begin, stay.stay.end};
}

// Sorts the stays, and merges those with the same key. Drops stays that no longer cross any bound.
void put_together(std::vector<RecordedStay>* stays) {
  std::erase_if(*stays, [](const RecordedStay& stay) { return stay.stay.begin == stay.stay.end; });
  std::sort(stays->begin(), stays->end(),
            [](const RecordedStay& a, const RecordedStay& b) { return key_of(a) < key_of(b); });
  size_t kept = 0;
  for (const RecordedStay& stay : *stays) {
    if (kept != 0 && key_of((*stays)[kept - 1]) == key_of(stay)) {
      (*stays)[kept - 1].stay.bytes += stay.stay.bytes;
      (*stays)[kept - 1].stay.blocks += stay.stay.blocks;
    } else {
      (*stays)[kept++] = stay;
    }
  }
  stays->resize(kept);
}

}  // namespace

void add_stays(const StayBook& book, const StayBounds& bounds, const SiteBook& sites, const TickScale& scale,
               uint64_t end_ticks, RecordedDevice* device) {
  if (book.is_given_up() || bounds.bounds().size() < 2) return;
  GrowingArray<uint32_t> index;  // by site: its place among those that are recorded
  index.grow_to(sites.size());
  uint32_t recorded = 0;
  for (uint32_t site = 1; site < sites.size(); ++site) {
    if (sites[site].total.blocks != 0) index[site] = recorded++;
  }
  std::vector<StayBound> kept = bounds.bounds();
  std::vector<RecordedStay> stays;
  book.for_each([&](const KeptStay& stay) {
    stays.push_back(
        {index[stay.site], {stretch_index(kept, stay.begin), stretch_index(kept, stay.end), stay.bytes, stay.blocks}});
  });
  put_together(&stays);
  while (stays.size() > kStaysOfDevice + kRecordedStaysOfSite * recorded) {
    const std::vector<StayBound> before = kept;
    if (!thin_out(&kept)) break;
    for (RecordedStay& stay : stays) {
      stay.stay.begin = stretch_index(kept, before[stay.stay.begin].serial);
      stay.stay.end = stretch_index(kept, before[stay.stay.end].serial);
    }
    put_together(&stays);
  }
  device->stays = std::move(stays);
  for (const StayBound& bound : kept)
    device->bounds_ns.push_back(scale.since_start_ns(std::min(bound.said_ticks, end_ticks)));
}

}  // namespace heapprof::cli
