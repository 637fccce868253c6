// cli/collect/untouched.h: what a program asked for in large blocks, and never used: pages of live blocks that the
// kernel never had to give it.
//
// Guarantees
//  - The process is not stopped. Pages are those of the moment at which the kernel was asked (/proc/PID/pagemap; in
//    memory, or swapped out); a block counts only if the books have it live before that moment and after it.
//  - It is looked only while the whole process has less resident than what is live of the heap, by 8 MiB and a quarter
//    of that; first after 50 ms of it, then ever less often, and for 1 % of the time at most.
//  - What was found is that of one moment. Where a later look finds more of these blocks touched, it is corrected;
//    where so much became resident since that it may have been touched, and the blocks are gone, it is dropped.
// Not provided: blocks below 64 KiB; pages that a block shares with others (they count as touched); mapped pages; what
//           is touched within the last 10 ms of a block's life. A page that was only read counts as touched.
// Context:  as cli/collect/fragmentation.h.
// Trust:    /proc is the kernel's.
// Cost:     two comparisons every 10 ms while all is touched. A look: 0.15 µs a live block in the thread that reads the
//           rings, in another 8 bytes read for each page of a large block (less from Linux 6.7 on); 40 bytes a large
//           block.
#pragma once

#include "cli/collect/background_look.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/leaks/target_memory.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heapprof::cli {

struct BlockPages {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t birth = 0;  // ticks
  uint64_t untouched_bytes = 0;
  uint32_t site = 0;
};

class UntouchedWatch {
 public:
  struct Moment {
    uint64_t now_ns = 0;
    uint64_t books_ns = 0;  // the books have all that was before
    uint64_t resident_bytes = 0;
  };

  // After a sample of the resident set.
  void step(const Moment& moment, pid_t pid, Ledger* ledger);
  void forget() { (void)look_.release(); }
  // No look is under way.
  bool is_at_rest() const { return look_ == nullptr; }

  struct Found {
    uint64_t at_ns = 0;  // by monotonic_ns()
    std::vector<BlockPages> blocks;

    uint64_t untouched_bytes() const;
  };
  // Of the moment at which most was untouched; nothing: all was touched, or may have been.
  std::optional<Found> at_end() const;

 private:
  void begin(const Moment& moment, pid_t pid, Ledger* ledger);
  void count_touched(const Moment& moment, uint64_t live_bytes);
  void merge(std::vector<BlockPages>* seen, Ledger* ledger);

  uint64_t since_ns_ = 0;     // 0: what is live is resident
  uint64_t next_ns_ = 0;      // of the next look
  uint64_t earliest_ns_ = 0;  // of it, by what the last one took
  uint64_t begun_ns_ = 0;     // of the look under way
  uint64_t looked_ns_ = 0;    // it was under way until then
  std::unique_ptr<BackgroundLook<std::vector<BlockPages>>> look_;
  std::optional<Found> found_;
  // What became resident since the last look that is in found_, and is not of blocks that are new.
  uint64_t touched_bytes_ = 0;
  uint64_t touched_before_ = 0;  // of these, when the look under way began
  uint64_t new_bytes_ = 0;       // of such blocks, as far as it is not resident yet
  uint64_t last_resident_bytes_ = 0;
  uint64_t last_live_bytes_ = 0;
};

}  // namespace heapprof::cli
