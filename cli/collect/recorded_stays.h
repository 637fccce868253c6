// cli/collect/recorded_stays.h: the stays of a device's sites, for its recording (cli/model/profile/stays.h).
#pragma once

#include "cli/collect/books/site_book.h"
#include "cli/collect/books/stay_book.h"
#include "cli/collect/clock.h"
#include "cli/model/profile/recording.h"

namespace heapprof::cli {

// A device has so many at most, about 14 bytes each: a profile of more than a few sites stays below one and a half
// times what it is without them, and a small one has room for some marks.
inline constexpr size_t kStaysOfDevice = 1024;
inline constexpr size_t kRecordedStaysOfSite = 8;

// Fills bounds_ns and stays. Where there would be too many, bounds are given up, those of the program's marks last.
// pre: the ledger is finished; device->sites are those of `sites` that ever had a block, in their order
void add_stays(const StayBook& book, const StayBounds& bounds, const SiteBook& sites, const TickScale& scale,
               uint64_t end_ticks, RecordedDevice* device);

}  // namespace heapprof::cli
