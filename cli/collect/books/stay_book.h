// cli/collect/books/stay_book.h: lifetimes by time bucket: blocks that lived across a bound (a bucket boundary), by the
// buckets in which they began and ended, for each site (cli/model/profile/stays.h).
//
// Bounds are set by time. When there are 64 of them, the closest ones are given up and the distance doubles. Each mark
// and each snapshot sets a bound as well; of these 64 are kept, in the same way. The end of a block costs a comparison;
// only a block that began before the latest bound costs more.
//
// Guarantees
//  - At every bound that is left the stays say exactly what was live there, and in which bucket ("stretch") it began.
//  - A book has at most kFewest stays or, if that is more, kStaysOfSite for each site. If there would be more stays,
//    bounds are given up.
//  - Without memory the stays of the book are given up; nothing is thrown.
// Context:  the ledger's thread.
// Cost:     5-10 ns for a block that lived across a bound, 32 to 64 bytes a stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct StayBound {
  // the ledger's time, which may be ahead of the program's: blocks that began at it or later are after the bound
  uint64_t ticks = 0;
  uint64_t said_ticks = 0;  // when it happened: a mark states it; otherwise `ticks`
  uint32_t serial = 0;      // in the order in which bounds were set, those given up included
  bool is_marked = false;   // by the program, or by a snapshot
};

// Gives up the closest bounds: a quarter or more of those set by time or, if there are no such bounds any more, of the
// others. The first and the last bound stay. False: there was no bound to give up.
bool thin_out(std::vector<StayBound>* bounds);

class StayBounds {
 public:
  static constexpr size_t kMost = 64;  // of each kind: those set by time, and the others

  void start(uint64_t ticks);
  // The latest bound: a block that began before it has lived across one.
  uint64_t open_ticks() const { return open_ticks_; }
  bool is_due(uint64_t now_ticks) const { return now_ticks >= next_ticks_; }
  // Sets a bound after everything that happened up to now_ticks. Returns its time, and no event may be earlier from now
  // on; returns now_ticks if no bound was set.
  uint64_t add(uint64_t now_ticks) { return set(now_ticks, now_ticks + 1, false); }
  // The same for a mark that was set at mark_ticks.
  uint64_t add_mark(uint64_t now_ticks, uint64_t mark_ticks) { return set(now_ticks, mark_ticks, true); }
  // Sets the last bound, at the end of the run: live blocks live across it.
  void finish(uint64_t end_ticks);
  // The serial number of the bound at which the bucket with this time begins.
  uint32_t stretch_of(uint64_t ticks);
  // Gives up bounds, for a book that has no room for as many.
  void thin();
  const std::vector<StayBound>& bounds() const { return bounds_; }

 private:
  static constexpr uint64_t kFirstDistance = uint64_t{1} << 19;  // ticks; some 0.2 ms

  uint64_t set(uint64_t now_ticks, uint64_t said_ticks, bool is_marked);

  std::vector<StayBound> bounds_;
  size_t latest_ = 0;  // the bucket that was found last
  uint64_t open_ticks_ = 0;
  uint64_t next_ticks_ = UINT64_MAX;  // not started
  uint64_t distance_ = kFirstDistance;
  uint32_t next_serial_ = 0;
};

// A stay as kept: bounds by serial.
struct alignas(32) KeptStay {  // half a cache line
  uint32_t site = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// The stays of one device.
class StayBook {
 public:
  static constexpr size_t kFewest = 16'384;
  static constexpr size_t kStaysOfSite = 8;

  // Without bounds nothing is kept. They must outlive the book.
  void set_bounds(StayBounds* bounds) { bounds_ = bounds; }

  struct Life {
    uint64_t begin_ticks;
    uint64_t end_ticks;
  };
  // Notes that these bytes and blocks ended; blocks: 1, or 0 for a part of a block that lives on; for a sampled block
  // its weight.
  void end(uint32_t site, Life life, uint64_t bytes, uint64_t blocks) {
    if (bounds_ != nullptr && life.begin_ticks < bounds_->open_ticks()) [[unlikely]]
      note(site, life, bytes, blocks);
  }
  // Undoes end(). pre: the same arguments as then
  void take_back(uint32_t site, Life life, uint64_t bytes, uint64_t blocks) { end(site, life, 0 - bytes, 0 - blocks); }

  // A block that is live at the end. pre: the bounds are finished
  void leave(uint32_t site, uint64_t begin_ticks, uint64_t bytes, uint64_t blocks = 1) {
    if (bounds_ != nullptr) end(site, {begin_ticks, bounds_->open_ticks()}, bytes, blocks);
  }

  bool is_given_up() const { return is_given_up_; }
  // Calls take(const KeptStay&) for all stays, in any order; a stay may come in parts.
  template <typename Take>
  void for_each(Take take) const {
    const auto take_all = [&take](const auto& stays) {
      for (const KeptStay& stay : stays) {
        if (stay.bytes != 0 || stay.blocks != 0) take(stay);
      }
    };
    take_all(slots_);
    take_all(latest_);
    take_all(awaited_);
  }
  // The mean number of slots probed until one is found. For tests, as slow look-ups change no result.
  double mean_probes() const;
  uint64_t bytes() const { return (slots_.capacity() + latest_.capacity()) * sizeof(KeptStay); }

 private:
  static constexpr size_t kLatest = 512;  // a power of two
  static constexpr size_t kAwaited = 16;  // likewise

  void note(uint32_t site, Life life, uint64_t bytes, uint64_t blocks);
  void await(const KeptStay& stay);
  void put(const KeptStay& stay);
  KeptStay* find(std::vector<KeptStay>* slots, uint32_t site, uint32_t begin, uint32_t end);
  void make_room();
  bool rebuild(size_t capacity);

  StayBounds* bounds_ = nullptr;
  std::vector<KeptStay> slots_;  // by a hash, a power of two of them; end 0: free
  size_t used_ = 0;
  // By site, stays that are not in the table yet: of blocks of a site that end one after the other, most began in the
  // same bucket.
  std::vector<KeptStay> latest_;
  std::array<KeptStay, kAwaited> awaited_{};  // a ring: these wait until their slots are prefetched
  size_t next_awaited_ = 0;
  uint32_t most_site_ = 0;
  bool is_given_up_ = false;
};

// The index of a serial's bucket among those bounds: the last bound not after it. pre: bounds begin with the first ever
uint32_t stretch_index(const std::vector<StayBound>& bounds, uint32_t serial);

}  // namespace heapprof::cli
