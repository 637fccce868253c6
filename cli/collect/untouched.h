// cli/collect/untouched.h: memory in large blocks that a program allocated and did not use: pages of live blocks that
// the kernel does not have to provide.
//
// Guarantees
//  - The process is not stopped. Pages are those of the moment at which the kernel was asked (/proc/PID/pagemap; in
//    memory, or swapped out). A block counts only if it is live in the books before and after that moment, in the same
//    image of the process.
//  - A look is made only while at least 8 MiB, and at least a quarter, of the live heap is not resident: first after 50
//    ms of that, then ever less often, and for 1 % of the time at most.
//  - The result is of one moment. A later look corrects it, for blocks that are still live. If more than a quarter of
//    it may have been touched since, as the resident set grew by so much, or so much less is lacking, another look is
//    made; blocks that are freed before that are dropped.
// Not provided: blocks below 64 KiB; pages that a block shares with others (they count as touched); mapped pages; what
//           is touched within the last 10 ms of a block's life. A page that was only read counts as touched, one that
//           the program gave back (MADV_DONTNEED) does not.
// Context:  as cli/collect/fragmentation.h.
// Trust:    /proc is the kernel's.
// Cost:     two comparisons every 10 ms while all is touched. A look: 0.15 µs a live block in the thread that reads the
//           rings; in another thread 8 bytes read for each page of a large block (less from Linux 6.7 on), and 40 bytes
//           a large block, three times during the look. While there is a result, a look-up in the books for each of its
//           blocks every 10 ms in which memory was freed (for more than 1,000 blocks: every 100 ms).
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
  enum class Life : uint8_t { kLive, kEndsNow, kEnded } life = Life::kLive;  // kEnded: it was freed still untouched
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

  // After a sample of the resident set.
  void step(const Moment& moment, const Target& target, Ledger* ledger);
  void forget() { (void)look_.release(); }
  // No look is under way.
  bool is_at_rest() const { return look_ == nullptr; }

  struct Found {
    uint64_t at_ns = 0;              // by monotonic_ns()
    std::vector<BlockPages> blocks;  // by address

    uint64_t untouched_bytes() const;
  };
  // The moment at which most was untouched; nullopt: all was touched, or may have been.
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
  uint64_t next_ns_ = 0;      // of the next look
  uint64_t earliest_ns_ = 0;  // of it, by how long the last one took
  uint64_t begun_ns_ = 0;     // of the look under way
  uint64_t looked_ns_ = 0;    // when it was found done
  std::unique_ptr<Look> look_;
  std::optional<Found> found_;
  // What became resident since the last look that is in found_ began, and before the one under way began; what was live
  // and not resident at its end.
  uint64_t grown_bytes_ = 0;
  uint64_t grown_before_bytes_ = 0;
  uint64_t lacking_then_bytes_ = 0;
  uint64_t untouched_then_bytes_ = 0;  // of blocks of found_ that were live then
  uint64_t untouched_live_bytes_ = 0;  // the same, of those that are live now
  uint64_t lacking_bytes_ = 0;         // now
  uint64_t last_resident_bytes_ = 0;
  uint64_t last_live_bytes_ = 0;
  uint64_t next_settle_ns_ = 0;
  bool has_freed_ = false;  // since ended blocks were last looked for
};

}  // namespace heapprof::cli
