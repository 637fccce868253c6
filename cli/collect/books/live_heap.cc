// cli/collect/books/live_heap.cc: see live_heap.h.
//
// Load is kept between 1/3 and 1/2 (in a small table 1/4): a failed look-up, which every malloc is, then takes 1.6 to
// 2.5 probes of 32 bytes in a row, a successful one 1.3 to 1.5. With up to 2/3, 5 M live blocks at random took 96 ns a
// record instead of 63.
#include "cli/collect/books/live_heap.h"

#include "cli/collect/memory/mapped_memory.h"

#include <new>
#include <span>

namespace heapprof::cli {

namespace {

constexpr uint64_t kFirstBlocks = 128;  // a page
constexpr uint64_t kMaxSegmentBlocks = 1ull << 31;
constexpr uint64_t kHugePageBlocks = kHugePageBytes / sizeof(Block);

// A table grows by half, and to twice its size while it is small. From half a huge page on it is a whole number of huge
// pages.
uint64_t grown(uint64_t capacity) {
  if (capacity < kHugePageBlocks / 2) return 2 * capacity;
  return (capacity + capacity / 2 + kHugePageBlocks - 1) / kHugePageBlocks * kHugePageBlocks;
}

}  // namespace

LiveHeap::LiveHeap() {
  for (Segment& segment : segments_) {
    segment.blocks = static_cast<Block*>(map_zeroed(kFirstBlocks * sizeof(Block)));
    segment.capacity = kFirstBlocks;
    segment.limit = kFirstBlocks / 3 * 2;
  }
}

LiveHeap::~LiveHeap() { release(); }

void LiveHeap::release() {
  for (Segment& segment : segments_) {
    if (segment.blocks != nullptr) unmap(segment.blocks, segment.capacity * sizeof(Block));
    segment = {};
  }
}

void LiveHeap::stop_growing() {
  may_grow_ = false;
  for (Segment& segment : segments_) segment.limit = segment.capacity - 1;  // one free slot ends every search
}

// Blocks go from one table to the other in order, as a block's slot is monotone in its hash.
void LiveHeap::grow(uint32_t index) {
  Segment& segment = segments_[index];
  if (!may_grow_ || segment.capacity >= kMaxSegmentBlocks) throw std::bad_alloc();
  const uint64_t capacity = grown(segment.capacity);
  const Segment old = segment;
  segment.blocks = static_cast<Block*>(map_written(capacity * sizeof(Block)));
  segment.capacity = capacity;
  segment.limit = capacity / 2;
  for (const Block& block : std::span(old.blocks, old.capacity)) {
    if (block.address == 0) continue;
    uint64_t at = slot_of(block.address).index;
    while (segment.blocks[at].address != 0) at = next(segment, at);
    segment.blocks[at] = block;
  }
  unmap(old.blocks, old.capacity * sizeof(Block));
}

}  // namespace heapprof::cli
