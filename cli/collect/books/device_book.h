// cli/collect/books/device_book.h: the books of one device of any kind.
#pragma once

#include "cli/collect/books/device_holdings.h"
#include "cli/collect/books/name_book.h"
#include "cli/collect/books/refusals.h"
#include "cli/collect/books/site_book.h"
#include "cli/collect/books/stay_book.h"
#include "cli/collect/books/timeline.h"
#include "shared/events.h"

#include <cstdint>
#include <map>
#include <utility>

namespace heapprof::cli {

// The memory taken by the contexts or modules that one site made.
struct EstimateSum {
  uint64_t count;
  uint64_t size_bytes;
  uint64_t bound_count;  // of these, those before which the free memory was unknown
};
using EstimateSums = std::map<std::pair<wire::EstimateKind, uint32_t>, EstimateSum>;  // by kind and site

// The books of one device.
struct DeviceBook {
  SiteBook sites;
  LiveTimeline timeline;
  StayBook stays;
  DeviceHoldings holdings;
  Refusals refused;
  Amount unseen{};  // the total of calls of the runtime in which no call of the driver was seen
  EstimateSums estimates;
  NameBook names;
};

}  // namespace heapprof::cli
