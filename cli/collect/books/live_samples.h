// cli/collect/books/live_samples.h: what each site had live at a few moments of the run: they show a site that grows
// without end.
//
// At moments chosen by time the whole book is read; no event pays for it. When kMost moments are full, every other one
// is dropped and the distance doubles: at the end half of kMost to all of them are left, spread evenly over the run.
//
// Guarantees
//  - A moment's numbers are exact for the order of events that the ledger has seen by then.
//  - Sites below kSmallest are left out of a moment, so memory is bounded by the live heap: kMost times 16 bytes for 4
//    KiB.
//  - If memory runs out, all moments are dropped; nothing is thrown.
// Cost:     30 ns a site and moment if not cached. This is at most 1.5 % of one core, because the time between two
//           moments is at least 2 µs for each site.
#pragma once

#include "cli/collect/books/site_book.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

class LiveSamples {
 public:
  static constexpr size_t kMost = 16;
  static constexpr uint64_t kSmallest = 4096;

  bool is_due(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // pre: neither time is smaller than at the last call
  void take(const SiteBook& sites, uint64_t ticks, uint64_t now_ns);

  std::vector<uint64_t> moments() const;  // in ticks
  uint64_t bytes() const;

  // Returns the sites' rows, in ascending order of sites.
  class Reader {
   public:
    explicit Reader(const LiveSamples& samples) : samples_(samples), next_(samples.samples_.size(), 0) {}
    // Appends one number a moment; false if the site is in none. pre: `site` is larger than at the last call
    bool add_row(uint32_t site, std::vector<uint64_t>* rows);

   private:
    const LiveSamples& samples_;
    std::vector<size_t> next_;
    uint32_t next_site_ = 0;  // no sample has a smaller one that was not returned
  };

 private:
  static constexpr uint64_t kFirstNs = 1'000'000;
  static constexpr uint64_t kSiteNs = 2'000;

  struct SiteBytes {
    uint64_t bytes;
    uint32_t site;
  };
  struct Sample {
    uint64_t ticks = 0;
    std::vector<SiteBytes> by_site;  // by site
  };

  void thin_out();
  void give_up();

  std::vector<Sample> samples_;
  uint64_t distance_ns_ = kFirstNs;
  uint64_t next_ns_ = 0;
};

}  // namespace heapprof::cli
