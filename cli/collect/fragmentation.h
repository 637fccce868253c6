// cli/collect/fragmentation.h: memory that stays resident though most blocks in it were freed: how much of it is in
// pages without a block, how much in pages that a few blocks pin, and the sites of these.
//
// Guarantees
//  - The process is not stopped, and its threads do nothing for it. Pages are those of the moment at which the kernel
//    was asked (/proc/PID/pagemap; in memory, or swapped out), blocks those that were in the books just before. In a
//    running process the two differ by what it does within some milliseconds.
//  - A look is made only if the heap has fallen to half of its peak for 100 ms, by 8 MiB or more, and a quarter of
//    that, and 8 MiB, is still resident beyond what is live; then ever less often, and for 1 % of the time at most.
//  - If the heap grows again to more than half of its peak, or by a quarter of what was unused, or if so much is given
//    back to the system, the result is dropped. If a quarter of what was freed is in use again, the time starts anew;
//    if less is, the unused memory is reported smaller by that.
//  - Pages that were only read do not count as resident: the system has one zero page for all.
// Not provided: mappings in which no block is live, and those of other allocators; processes whose blocks are not all
//           known (sampled, attached to, forked, with an allocator inside the executable). A thread's stack that
//           lies beside blocks in one mapping counts as pages without a block. Before Linux 6.7 pages that a forked
//           child shares are not seen.
// Context:  the thread that reads the rings copies the blocks; a thread of the look's own does the rest. In a forked
//           copy of the collector that thread does not run: call forget() there.
// Trust:    /proc is the kernel's; the table of the agent's own pages is the target's.
// Cost:     nothing before the heap has fallen. A look: 0.15 µs a live block in the thread that reads the rings, as
//           much again in the other, and 24 bytes a block and 2 a page of the heap during the look.
#pragma once

#include "cli/collect/background_look.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/leaks/leak_marks.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heapprof::cli {

// What a look at the pages of the heap found, in bytes.
struct HeapPages {
  uint64_t resident_bytes = 0;
  uint64_t empty_bytes = 0;       // pages without a block
  uint64_t empty_pieces = 0;      // in so many pieces, with blocks between them
  uint64_t sparse_bytes = 0;      // unoccupied bytes of pages of which blocks occupy less than half
  std::vector<LostPart> pinning;  // the sites of the blocks in these: their number, and their share of sparse_bytes

  uint64_t unused_bytes() const { return empty_bytes + sparse_bytes; }
};

// How much of each page blocks occupy. A block counts with 8 bytes for its allocator, in steps of 16 and with 32 at
// least, but not beyond the page in which it ends.
class PageOccupancy {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kMostParts = 8;

  // ranges: whole pages, ascending, apart from each other
  explicit PageOccupancy(const std::vector<MemoryRange>& ranges);
  ~PageOccupancy();
  PageOccupancy(const PageOccupancy&) = delete;
  PageOccupancy& operator=(const PageOccupancy&) = delete;

  // First each block,
  void add(uint64_t address, uint64_t size_bytes);
  // then pages that the process has, of ranges in which blocks lie, ascending,
  std::vector<MemoryRange> used_ranges() const;
  void judge(MemoryRange pages);
  // then each block again. A page's free bytes are attributed to its blocks in proportion to what they occupy.
  void pin(uint64_t address, uint64_t size_bytes, uint32_t site);
  HeapPages result() const;

 private:
  struct Region {
    MemoryRange range;
    size_t first_page = 0;  // in pages_
    bool is_used = false;
  };

  Region* region_of(uint64_t address);
  template <typename Visit>
  void for_each_page(uint64_t address, uint64_t size_bytes, const Visit& visit);

  std::vector<Region> regions_;
  size_t latest_ = 0;               // the region in which the last block lay
  const Region* judged_ = nullptr;  // the latest one
  bool is_in_piece_ = false;        // its latest page is empty
  uint16_t* pages_ = nullptr;
  size_t pages_bytes_ = 0;
  HeapPages result_;
  std::vector<LostPart> parts_;  // by site
};

class FragmentationWatch {
 public:
  struct Target {
    pid_t pid = 0;
    uint64_t own_pages_avma = 0;
    uint32_t own_pages_count = 0;
  };

  // After a sample of the resident set.
  void step(uint64_t now_ns, uint64_t resident_bytes, const Target& target, Ledger* ledger);
  void forget() { (void)look_.release(); }

  struct Found {
    uint64_t since_ns = 0;  // by monotonic_ns(): when the heap had fallen
    uint64_t at_ns = 0;
    uint64_t live_bytes = 0;      // then
    uint64_t most_bytes = 0;      // the most live after it rose again, and since the look
    uint64_t resident_bytes = 0;  // of the whole process
    HeapPages pages;
  };
  // Of the last look; nullopt: the heap did not fall, or is in use again. pre: the ledger has all events
  std::optional<Found> at_end(const Ledger& ledger) const;

 private:
  void begin(uint64_t now_ns, const Target& target, Ledger* ledger);

  uint64_t since_ns_ = 0;               // 0: it has not fallen
  uint64_t freed_bytes_ = 0;            // by then
  uint64_t lowest_bytes_ = UINT64_MAX;  // that were live since
  uint64_t risen_bytes_ = 0;            // what was live when it had risen again, at most
  uint64_t earliest_ns_ = 0;            // of the next look, by how long the last one took
  uint64_t begun_ns_ = 0;               // of the look under way
  uint64_t begun_live_bytes_ = 0;
  uint64_t next_ns_ = 0;
  std::unique_ptr<BackgroundLook<HeapPages>> look_;
  std::optional<Found> found_;
};

}  // namespace heapprof::cli
