// cli/collect/live_heap.cc: see live_heap.h.
//
// Load is kept between 1/2 and 3/4 (growing by half): a failed look-up, which every malloc is, then takes 2.5 to 8.5 probes
// of 32 bytes in a row, a successful one 1.5 to 2.5.
#include "cli/collect/live_heap.h"

#include "cli/collect/mapped_memory.h"

#include <new>

namespace heapprof::cli {

namespace {

constexpr uint64_t kFirstBlocks = 128;       // a page
constexpr uint64_t kHugeBytes = 4ull << 20;  // from here on huge pages pay
constexpr uint64_t kMaxSegmentBlocks = 1ull << 31;

Block* map_blocks(uint64_t count) { return static_cast<Block*>(map_zeroed(count * sizeof(Block))); }

}  // namespace

LiveHeap::LiveHeap() {
  for (Segment& segment : segments_) {
    segment.blocks = map_blocks(kFirstBlocks);
    segment.capacity = kFirstBlocks;
    segment.limit = kFirstBlocks / 4 * 3;
  }
}

LiveHeap::~LiveHeap() {
  for (Segment& segment : segments_) unmap(segment.blocks, segment.capacity * sizeof(Block));
}

void LiveHeap::grow(uint32_t index) {
  Segment& segment = segments_[index];
  const Segment old = segment;
  if (old.capacity >= kMaxSegmentBlocks) throw std::bad_alloc();
  segment.capacity = (old.capacity + old.capacity / 2 + kFirstBlocks - 1) / kFirstBlocks * kFirstBlocks;  // whole pages
  segment.limit = segment.capacity / 4 * 3;
  segment.blocks = map_blocks(segment.capacity);
  for (uint64_t i = 0; i < old.capacity; ++i) {
    if (old.blocks[i].address == 0) continue;
    uint64_t at = place_of(old.blocks[i].address).index;
    while (segment.blocks[at].address != 0) at = next(segment, at);
    segment.blocks[at] = old.blocks[i];
  }
  unmap(old.blocks, old.capacity * sizeof(Block));
}

}  // namespace heapprof::cli
