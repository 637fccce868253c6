// cli/collect/books/refusals.h: allocations that failed because there was no memory: the sites that asked for memory,
// and those that had it.
#pragma once

#include "cli/collect/books/site_book.h"
#include "cli/collect/rings/device_event.h"
#include "cli/collect/rings/event.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace heapprof::cli {

// The refusals of one site; the numbers are those at the last of them. The time of an event is that of the drain pass
// that read it, so refusals of several sites may have the same ticks: their numbers give the order.
struct RefusedSite {
  uint32_t site;
  uint64_t count;
  uint64_t by_limit_count;
  uint64_t first_ticks;
  uint64_t last_ticks;
  uint64_t first_number;  // among all refusals of the device, from 1
  uint64_t last_number;
  uint64_t size_bytes;
  uint64_t free_bytes;  // wire::kFreeUnknown
  Amount live;
  std::vector<std::pair<uint32_t, Amount>> live_sites;  // sites, the largest first
};

// The refusals of one device.
struct Refusals {
  std::vector<RefusedSite> sites;
  uint64_t elsewhere = 0;  // by sites beyond kMostSites
  uint64_t looks = 0;
  uint64_t count = 0;  // how many refusals `sites` has

  static constexpr size_t kMostSites = 64;
  static constexpr uint64_t kMostLooks = 100'000'000;  // at sites, to find the largest: under a second in all

  // held: the device's sites as of now
  void note(const DeviceEvent& device_event, const Event& event, const SiteBook& held, uint64_t now_ticks);
};

}  // namespace heapprof::cli
