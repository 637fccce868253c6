// cli/collect/fragmentation.h: finds memory that stays resident although most blocks in it were freed. It says how much
// of it is in pages without a block, how much in pages that a few blocks pin, and the sites of these blocks.
//
// Guarantees
//  - The process is not stopped, and its threads do no work for this. Pages are those of the moment at which the kernel
//    was asked (/proc/PID/pagemap; in memory, or swapped out), blocks those that were in the books just before. In a
//    running process the pages and the blocks differ by what the process does within some milliseconds.
//  - The pages are looked at only if the heap has fallen, for 100 ms, to half of its peak and by at least 8 MiB. In
//    addition, the memory that is resident but not live must be at least a quarter of this fall, and at least 8 MiB.
//    Further looks come ever less often, and all take 1 % of the time at most.
//  - The result is dropped if the heap grows again to more than half of its peak, or by a quarter of the unused memory.
//    It is also dropped if a quarter of the unused memory is given back to the system. If more than a quarter of the
//    freed memory is in use again, the time starts anew. If less is in use again, that much less unused memory is
//    reported.
//  - Pages that were only read do not count as resident: the system has one zero page for all.
// Not provided: mappings in which no block is live, and those of other allocators; processes whose blocks are not all
//           known (sampled, attached to, forked, with an allocator inside the executable). A thread's stack that is in
//           one mapping with blocks counts as pages without a block. Before Linux 6.7 pages that a forked child shares
//           are not seen.
// Context:  the thread that reads the rings copies the blocks; the look's own thread does the rest. In a forked copy of
//           the collector that thread does not run: call forget() there.
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
  uint64_t empty_pieces = 0;      // the number of pieces that these pages form, with blocks between them
  uint64_t sparse_bytes = 0;      // unoccupied bytes of pages of which blocks occupy less than half
  std::vector<LostPart> pinning;  // by site, the blocks in the sparse pages: their number, and their share of
                                  // sparse_bytes

  uint64_t unused_bytes() const { return empty_bytes + sparse_bytes; }
};

// How much of each page is occupied by blocks. Each block's size is increased by 8 bytes for its allocator and rounded
// up to a multiple of 16, to 32 at least, but not beyond the page in which the block ends.
class PageOccupancy {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kMostParts = 8;

  // ranges: whole pages, ascending, apart from each other
  explicit PageOccupancy(const std::vector<MemoryRange>& ranges);
  ~PageOccupancy();
  PageOccupancy(const PageOccupancy&) = delete;
  PageOccupancy& operator=(const PageOccupancy&) = delete;

  // Call add() first, for each block;
  void add(uint64_t address, uint64_t size_bytes);
  // then judge() for the pages that the process has in used_ranges(), the ranges with blocks, ascending;
  std::vector<MemoryRange> used_ranges() const;
  void judge(MemoryRange pages);
  // then pin() for each block again. A page's free bytes are attributed to its blocks in proportion to what they
  // occupy.
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
  const Region* judged_ = nullptr;  // the region that was judged last
  bool is_in_piece_ = false;        // whether the page that was judged last is empty
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

  // Call it after each sample of the resident set.
  void step(uint64_t now_ns, uint64_t resident_bytes, const Target& target, Ledger* ledger);
  void forget() { (void)look_.release(); }

  struct Found {
    uint64_t since_ns = 0;  // by monotonic_ns(): when the heap had fallen
    uint64_t at_ns = 0;
    uint64_t live_bytes = 0;      // when the look began
    uint64_t most_bytes = 0;      // the most live after it rose again, and since the look
    uint64_t resident_bytes = 0;  // of the whole process
    HeapPages pages;
  };
  // The result of the last look; nullopt: the heap did not fall, or is in use again. pre: the ledger has all events
  std::optional<Found> at_end(const Ledger& ledger) const;

 private:
  void begin(uint64_t now_ns, const Target& target, Ledger* ledger);

  uint64_t since_ns_ = 0;               // 0: it has not fallen
  uint64_t freed_bytes_ = 0;            // how far below its peak it had fallen then
  uint64_t lowest_bytes_ = UINT64_MAX;  // the fewest that were live since then
  uint64_t risen_bytes_ = 0;            // the most that was live when the heap had risen again
  uint64_t earliest_ns_ = 0;            // the earliest time of the next look, by how long the last one took
  uint64_t begun_ns_ = 0;               // when the look under way began
  uint64_t begun_live_bytes_ = 0;
  uint64_t next_ns_ = 0;
  std::unique_ptr<BackgroundLook<HeapPages>> look_;
  std::optional<Found> found_;
};

}  // namespace heapprof::cli
