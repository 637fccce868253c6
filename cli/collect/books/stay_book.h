// cli/collect/books/stay_book.h: blocks that lived across a bound, by when they began and when they ended: what
// cli/model/profile/stays.h says of each site.
//
// Bounds are set by time, 64 at most: when there are so many, those that lie closest are given up and the distance
// doubles. A mark or a snapshot is a bound, too; of these as many are kept, in the same way. The end of a block costs a
// comparison; only one that began before the latest bound is looked at further.
//
// Guarantees
//  - At every bound that is left the stays say exactly what was live there, and of it what began in which stretch.
//  - A book has at most kFewest stays, or kStaysOfSite for each site; where there would be more, bounds are given up.
//  - No memory: the stays of the book are given up; nothing is thrown.
// Context:  the ledger's thread.
// Cost:     5-10 ns for a block that lived across a bound, 32 to 64 bytes a stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct StayBound {
  // of the ledger, which may be ahead of the program: what began at that time or later is behind it
  uint64_t ticks = 0;
  uint64_t said_ticks = 0;  // when it was: a mark says that itself; else the same
  uint32_t serial = 0;      // in the order in which they were set, those that were given up included
  bool is_marked = false;   // by the program, or a snapshot's
};

// Gives up those that lie closest, a quarter and more of those that time set; where there is none, of the others. The
// first and the last one stay. False: there are no more.
bool thin_out(std::vector<StayBound>* bounds);

class StayBounds {
 public:
  static constexpr size_t kMost = 64;  // of each kind

  void start(uint64_t ticks);
  // The latest one: a block that began before it has lived across a bound.
  uint64_t open_ticks() const { return open_ticks_; }
  bool is_due(uint64_t now_ticks) const { return now_ticks >= next_ticks_; }
  // Sets one behind everything that happened at now_ticks or before. Returns its time, which is the earliest that
  // anything may happen at from now on; now_ticks, if none is set.
  uint64_t add(uint64_t now_ticks) { return set(now_ticks, now_ticks + 1, false); }
  // The same for a mark, which was made at that time.
  uint64_t add_mark(uint64_t now_ticks, uint64_t mark_ticks) { return set(now_ticks, mark_ticks, true); }
  // The end of all is the last bound, which what is live lives across.
  void finish(uint64_t end_ticks);
  // Of the stretch that the time lies in: the serial of the bound where it begins.
  uint32_t stretch_of(uint64_t ticks);
  // For one who has no room for as many.
  void thin();
  const std::vector<StayBound>& bounds() const { return bounds_; }

 private:
  static constexpr uint64_t kFirstDistance = uint64_t{1} << 19;  // ticks; some 0.2 ms
  // they are at least so small a part of the distance apart

  uint64_t set(uint64_t now_ticks, uint64_t said_ticks, bool is_marked);

  std::vector<StayBound> bounds_;
  size_t latest_ = 0;  // the stretch that was found last
  uint64_t open_ticks_ = 0;
  uint64_t next_ticks_ = UINT64_MAX;  // not started
  uint64_t distance_ = kFirstDistance;
  uint32_t next_serial_ = 0;
};

// A stay as it is kept: bounds by serial.
struct alignas(32) KeptStay {  // half a cache line
  uint32_t site = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Those of one device.
class StayBook {
 public:
  static constexpr size_t kFewest = 16'384;
  static constexpr size_t kStaysOfSite = 8;

  // Without bounds nothing is kept. They outlive the book.
  void set_bounds(StayBounds* bounds) { bounds_ = bounds; }

  struct Life {
    uint64_t begin_ticks;
    uint64_t end_ticks;
  };
  // So much ended; blocks: 1, or 0 for a part of one that lives on; of a chosen block, those that it stands for.
  void end(uint32_t site, Life life, uint64_t bytes, uint64_t blocks) {
    if (bounds_ != nullptr && life.begin_ticks < bounds_->open_ticks()) [[unlikely]]
      note(site, life, bytes, blocks);
  }
  // It did not end after all. pre: as it was given to end()
  void take_back(uint32_t site, Life life, uint64_t bytes, uint64_t blocks) { end(site, life, 0 - bytes, 0 - blocks); }

  // A block that is left. pre: the bounds are finished
  void leave(uint32_t site, uint64_t begin_ticks, uint64_t bytes, uint64_t blocks = 1) {
    if (bounds_ != nullptr) end(site, {begin_ticks, bounds_->open_ticks()}, bytes, blocks);
  }

  bool is_given_up() const { return is_given_up_; }
  // take(const KeptStay&) for all, in any order; a stay may come in parts.
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
  // How many slots are looked at until one is found: the mean over all. For tests, as slow look-ups change no result.
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
  // By site, what is not in the table yet: blocks of a site that end one after the other mostly began in one stretch.
  std::vector<KeptStay> latest_;
  std::array<KeptStay, kAwaited> awaited_{};  // a ring: these wait until the cache has fetched their slots
  size_t next_awaited_ = 0;
  uint32_t most_site_ = 0;
  bool is_given_up_ = false;
};

// The stretch of a serial among those bounds: the last one that is not behind it. pre: bounds begin with the first ever
uint32_t stretch_index(const std::vector<StayBound>& bounds, uint32_t serial);

}  // namespace heapprof::cli
