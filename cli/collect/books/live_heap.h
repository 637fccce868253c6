// cli/collect/books/live_heap.h: the blocks that are live, by address.
//
// Open addressing with linear probing in segments that grow one at a time, so that no single event pays for moving
// millions of blocks. A block's slot is monotone in its hash, therefore growing reads and writes in order. Erasing
// shifts the blocks behind back: no tombstones.
//
// Guarantees
//  - At most one block an address; address 0 is never in it.
//  - An insert that finds no memory throws std::bad_alloc and has changed nothing.
// Cost:     64-96 bytes a live block; two cache lines at most for nearly every look-up. (tests/bench/collect.cc)
#pragma once

#include "cli/collect/memory/prefetch.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapprof::cli {

struct Block {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t birth;  // ticks
  uint32_t site;
  uint32_t thread;  // slot of the thread that allocated it
};
static_assert(sizeof(Block) == 32);

class LiveHeap {
 public:
  LiveHeap();
  ~LiveHeap();
  LiveHeap(const LiveHeap&) = delete;
  LiveHeap& operator=(const LiveHeap&) = delete;

  size_t size() const {
    size_t size = 0;
    for (const Segment& segment : segments_) size += segment.used;
    return size;
  }
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const Segment& segment : segments_) bytes += segment.capacity * sizeof(Block);
    return bytes;
  }
  // Whether the tables are too large for a cache close to the core, so that prefetching pays.
  bool is_large() const { return segments_[0].capacity > kSmallSegment; }

  void prefetch(uint64_t address) const {
    const Slot slot = slot_of(address);
    const Block* home = &segments_[slot.segment].blocks[slot.index];
    prefetch_line(home);
    prefetch_line(home + 2);  // the next line: probing goes on there half of the time
  }

  // A likely answer to find() without following collisions: for prefetching what belongs to the block.
  const Block* peek(uint64_t address) const {
    const Slot slot = slot_of(address);
    const Block* block = &segments_[slot.segment].blocks[slot.index];
    return block->address == address ? block : nullptr;
  }

  // nullptr: not live. The pointer is valid until the next insert or take.
  Block* find(uint64_t address) {
    const Slot slot = slot_of(address);
    const Segment& segment = segments_[slot.segment];
    for (uint64_t i = slot.index;; i = next(segment, i)) {
      if (segment.blocks[i].address == address) return &segment.blocks[i];
      if (segment.blocks[i].address == 0) return nullptr;
    }
  }

  // The block at this address, made if there was none; the caller fills in the rest. pre: address is not 0
  Block* insert(uint64_t address, bool* is_new) {
    const Slot slot = slot_of(address);
    Segment& segment = segments_[slot.segment];
    for (uint64_t i = slot.index;; i = next(segment, i)) {
      Block& block = segment.blocks[i];
      if (block.address == address) {
        *is_new = false;
        return &block;
      }
      if (block.address == 0) {
        if (segment.used >= segment.limit) [[unlikely]] {
          grow(slot.segment);
          return insert(address, is_new);
        }
        block.address = address;
        ++segment.used;
        *is_new = true;
        return &block;
      }
    }
  }

  // Removes the block at this address into *taken. False: there is none.
  bool take(uint64_t address, Block* taken) {
    const Slot slot = slot_of(address);
    Segment& segment = segments_[slot.segment];
    for (uint64_t i = slot.index;; i = next(segment, i)) {
      if (segment.blocks[i].address == address) {
        *taken = segment.blocks[i];
        close_gap(segment, i);
        --segment.used;
        return true;
      }
      if (segment.blocks[i].address == 0) return false;
    }
  }

  // From here on nothing grows: what is left of the tables is used, and then insert throws.
  void stop_growing();
  // Forgets all blocks and gives their memory back. pre: nothing is looked up or inserted any more
  void release();

  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    for (const Segment& segment : segments_) {
      for (uint64_t i = 0; i < segment.capacity; ++i) {
        if (segment.blocks[i].address != 0) visit(segment.blocks[i]);
      }
    }
  }

 private:
  static constexpr int kSegmentBits = 3;
  static constexpr uint64_t kSmallSegment = 1024;  // 256 KiB in all

  struct Segment {
    Block* blocks = nullptr;
    uint64_t capacity = 0;  // below 2^32
    uint64_t used = 0;
    uint64_t limit = 0;  // grow when `used` reaches it
  };
  struct Slot {
    uint32_t segment;
    uint64_t index;
  };

  Slot slot_of(uint64_t address) const {
    // Mixed twice: with one multiplication blocks at equal distances can crowd together (48 bytes: 7 probes instead of
    // 2).
    uint64_t hash = address * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
    const auto segment = static_cast<uint32_t>(hash >> (64 - kSegmentBits));
    const uint64_t fraction = hash >> (32 - kSegmentBits) & 0xffffffff;
    return {segment, fraction * segments_[segment].capacity >> 32};
  }
  static uint64_t next(const Segment& segment, uint64_t i) { return i + 1 == segment.capacity ? 0 : i + 1; }

  void close_gap(Segment& segment, uint64_t gap) {
    for (uint64_t i = next(segment, gap);; i = next(segment, i)) {
      const Block& block = segment.blocks[i];
      if (block.address == 0) break;
      const uint64_t home = slot_of(block.address).index;
      const uint64_t from_home = i >= home ? i - home : i + segment.capacity - home;
      const uint64_t from_gap = i >= gap ? i - gap : i + segment.capacity - gap;
      if (from_home < from_gap) continue;  // it would come to lie before its home
      segment.blocks[gap] = block;
      gap = i;
    }
    segment.blocks[gap].address = 0;
  }

  void grow(uint32_t segment);

  bool may_grow_ = true;
  std::array<Segment, 1u << kSegmentBits> segments_;
};

}  // namespace heapprof::cli
