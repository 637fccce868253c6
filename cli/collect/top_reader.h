// cli/collect/top_reader.h: the numbers of a process for a live view (`heapprof top`).
//
// Guarantees
//  - The reader changes nothing in the books, and keeps only the numbers last sent to the subscriber (TopCursor).
//  - A look is bounded: it reads at most kMostLooks sites, sends at most kMostTold of them, and as many scopes as have
//    room. The next look does the rest.
// Context:  the thread that reads the rings, between two rounds.
// Cost:     32 bytes a site for each subscriber; a look at 50,000 unchanged sites takes 0.17 ms, sending 8,192 sites
//           0.7 ms with the transfer to the subscriber (tests/bench/runs/2026-11-25-top.md).
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/clock.h"
#include "cli/collect/drain.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/recording.h"
#include "cli/model/top/top_sample.h"

#include <cstdint>
#include <map>
#include <vector>

namespace heapprof::cli {

// What a look reads: one process, whose collector owns it.
struct TopSource {
  uint64_t image = 0;  // ProcessCollector::serial()
  Ledger* ledger = nullptr;
  const CallTree* tree = nullptr;
  const TickScale* scale = nullptr;
  Arena* arena = nullptr;
  const Drain* drain = nullptr;  // nullptr: it has not started
  const CollectorOptions* options = nullptr;
};

// What was sent to one subscriber, and how far its look has come.
class TopCursor {
 public:
  static constexpr size_t kMostLooks = 65'536;
  static constexpr size_t kMostTold = 8'192;

  // Starts anew, as if nothing had been sent.
  void forget() { *this = {}; }
  // Returns what has changed since the last look, or the next part of it (TopSample::is_whole).
  TopSample look(const TopSource& source);

 private:
  struct Told {
    uint64_t live_bytes = 0;
    uint64_t live_blocks = 0;
    uint64_t total_bytes = 0;
    uint64_t total_blocks = 0;
  };

  bool look_at_sites(uint32_t number, const SiteBook& sites, size_t* looks, TopSample* sample);

  uint64_t image_ = 0;
  std::map<uint32_t, std::vector<Told>> told_;  // by device, by site
  uint32_t device_ = 0;                         // the next look begins there
  uint32_t site_ = 1;
};

// Devices and scopes as of now, without sites; TopDevice::total_bytes and its like are set. Cost: 16 bytes of each site
// are read, about 2 ns each.
TopSample look_at_totals(const TopSource& source);

// The site numbers, in the books, of the sites of a recording that was made from these books.
struct SiteIds {
  std::vector<std::vector<uint32_t>> by_device;  // in the recording's order; 0: none
  uint32_t count = 0;                            // numbers are below it
};
// recording: as it came from the books (naming may give its sites other stacks)
SiteIds find_site_ids(const CallTree& tree, const Recording& recording);

}  // namespace heapprof::cli
