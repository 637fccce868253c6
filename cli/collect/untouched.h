// cli/collect/untouched.h: finds memory in large blocks that a program allocated and did not use: pages of live blocks
// that are neither in memory nor swapped out.
//
// Guarantees
//  - The process is not stopped. Pages are those of the moment at which the kernel was asked (/proc/PID/pagemap; in
//    memory, or swapped out). A block counts only if it is live in the books before and after that moment, in the same
//    image of the process.
//  - The pages are looked at only while at least 8 MiB, and at least a quarter, of the live heap is not resident. The
//    first look comes after 50 ms of this, later looks ever less often, and they take 1 % of the time at most.
//  - The result is of one moment. A later look corrects it, for blocks that are still live. The untouched memory may
//    have been touched since if the resident set grew by more than a quarter of it, or if the part of the live heap
//    that is not resident shrank by as much. Then another look is made; blocks that are freed before it are dropped.
// Not provided: blocks below 64 KiB; pages that a block shares with others (they count as touched); mapped pages; pages
//           that are touched within the last 10 ms before their block is freed. A page that was only read counts as
//           touched, one that the program gave back (MADV_DONTNEED) does not.
// Context:  as cli/collect/fragmentation.h.
// Trust:    /proc is the kernel's.
// Cost:     two comparisons every 10 ms while all is touched. A look: 0.15 µs a live block in the thread that reads the
//           rings. In another thread 8 bytes are read for each page of a large block (less from Linux 6.7 on), and a
//           large block takes 40 bytes, three times that during the look. While there is a result, a look-up in the
//           books for each of its blocks every 10 ms in which memory was freed (for more than 1,000 blocks: every 100
//           ms).
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
  enum class Life : uint8_t { kLive, kEndsNow, kEnded } life = Life::kLive;  // kEnded: it was freed when still
                                                                             // untouched
};

class UntouchedWatch {
 public:
  struct Target {
    pid_t pid = 0;
    uint64_t arena_inode = 0;  // of a memfd that only this image has mapped; 0: not checked
  };
  struct Moment {
    uint64_t now_ns = 0;
    uint64_t books_ns = 0;  // the books have all events before it
    uint64_t resident_bytes = 0;
  };

  // Call it after each sample of the resident set.
  void step(const Moment& moment, const Target& target, Ledger* ledger);
  void forget() { (void)look_.release(); }
  // Whether no look is under way.
  bool is_at_rest() const { return look_ == nullptr; }

  struct Found {
    uint64_t at_ns = 0;              // by monotonic_ns()
    std::vector<BlockPages> blocks;  // by address

    uint64_t untouched_bytes() const;
  };
  // What was found at the moment at which most was untouched; nullopt: all was touched, or may have been.
  std::optional<Found> at_end() const;

 private:
  using Look = BackgroundLook<std::vector<BlockPages>>;

  void begin(const Moment& moment, const Target& target, Ledger* ledger);
  void note(const Moment& moment, uint64_t live_bytes, Ledger* ledger);
  void settle_ended(Ledger* ledger);
  bool may_be_touched(uint64_t bytes) const;
  bool is_stale() const;
  void merge(std::vector<BlockPages>* seen, Ledger* ledger);

  uint64_t since_ns_ = 0;     // 0: the live heap is resident
  uint64_t next_ns_ = 0;      // when the next look is due
  uint64_t earliest_ns_ = 0;  // the earliest time of the next look, by how long the last one took
  uint64_t begun_ns_ = 0;     // when the look under way began
  uint64_t looked_ns_ = 0;    // when the look was found to be done
  std::unique_ptr<Look> look_;
  std::optional<Found> found_;
  // What became resident since the last look that is in found_ began; the part of this from before the look under way
  // began; what was live and not resident when the last look was merged.
  uint64_t grown_bytes_ = 0;
  uint64_t grown_before_bytes_ = 0;
  uint64_t lacking_then_bytes_ = 0;
  uint64_t untouched_then_bytes_ = 0;  // of blocks of found_ that were live then
  uint64_t untouched_live_bytes_ = 0;  // the same, of those that are live now
  uint64_t lacking_bytes_ = 0;         // what is live and not resident now
  uint64_t last_resident_bytes_ = 0;
  uint64_t last_live_bytes_ = 0;
  uint64_t next_settle_ns_ = 0;
  bool has_freed_ = false;  // whether memory was freed since ended blocks were last looked for
};

}  // namespace heapprof::cli
