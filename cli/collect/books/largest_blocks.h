// cli/collect/books/largest_blocks.h: finds the largest live blocks of the heap, without searching all of them each
// time.
//
// A list has every live block of `floor_bytes` and more, and others that have ended since. While ten blocks of the list
// are live, the largest ten are among them. When the list is full, ended blocks are removed, and if that is not enough
// the floor rises. Only if too few of the list are left is the whole heap searched, and then 64 blocks are noted.
//
// Guarantees
//  - No live block that find() leaves out is larger than one that it returns
//    (tests/unit/collect/snapshot_book_test.cc).
//  - note() allocates nothing.
// Context:  one thread.
// Cost:     a comparison for each block; if this is off (the default), the comparison is always false. 64 KiB if it is
//           on.
#pragma once

#include "cli/collect/books/live_heap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

class LargestBlocks {
 public:
  static constexpr size_t kFound = 10;

  void start() {
    noted_.reserve(kMostNoted);
    floor_bytes_ = 0;
  }
  // Whether a block of this size has to be noted.
  bool is_large(uint64_t size_bytes) const { return size_bytes >= floor_bytes_; }
  // pre: is_large() returned true, and the heap has the block
  void note(uint64_t address, uint64_t size_bytes, LiveHeap* heap) {
    if (noted_.size() == kMostNoted) tidy(heap);
    if (is_large(size_bytes)) noted_.push_back({address, size_bytes});
  }
  // The kFound largest blocks of the heap, in no particular order. Among blocks of equal size, any may be returned.
  std::vector<Block> find(LiveHeap* heap);

 private:
  static constexpr size_t kMostNoted = 4096;
  static constexpr size_t kKept = 64;

  struct Noted {
    uint64_t address;
    uint64_t size_bytes;
  };

  void drop_dead(LiveHeap* heap);
  void keep_largest();
  void tidy(LiveHeap* heap);

  std::vector<Noted> noted_;
  uint64_t floor_bytes_ = UINT64_MAX;
};

}  // namespace heapprof::cli
