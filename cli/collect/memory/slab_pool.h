// cli/collect/memory/slab_pool.h: memory in slabs of a page, each with a number, that never move.
//
// A table made of slabs grows by one slab at a time: nothing is copied, nothing that was cleared once is cleared again.
//
// Guarantees
//  - A slab lies at a multiple of its size. It is zero when it is taken.
//  - Running out throws std::bad_alloc and has changed nothing.
//  - kReserve slabs are always left for those who must still put something down when nothing may grow any more.
// Cost:     address space and memory in pieces of 256 KiB, from 2 MiB on of 2 MiB in huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

class SlabPool {
 public:
  static constexpr size_t kSlabBytes = 4096;
  static constexpr size_t kUnitBytes = 8;  // of what a number of 32 bits can name: 32 GiB
  static constexpr uint32_t kSlabUnits = kSlabBytes / kUnitBytes;
  static constexpr size_t kReserve = 16;

  SlabPool() = default;
  ~SlabPool() { release(); }
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // A new slab: the number of its first unit.
  uint32_t take();
  // What lies at a unit of a slab that was taken.
  void* at(uint32_t unit) const { return pieces_[unit / kPieceUnits] + size_t{unit % kPieceUnits} * kUnitBytes; }

  // From here on nothing is asked of the system: what there is is used up, the reserve too.
  void stop_growing() { may_grow_ = false; }
  // Gives all back. pre: nobody uses a slab any more
  void release();

  size_t taken() const { return taken_; }
  uint64_t bytes() const { return taken_ * uint64_t{kSlabBytes} + pieces_.capacity() * sizeof(pieces_[0]); }

 private:
  static constexpr size_t kPieceBytes = 256 << 10;
  static constexpr uint32_t kPieceUnits = kPieceBytes / kUnitBytes;
  static constexpr size_t kPieceSlabs = kPieceBytes / kSlabBytes;

  void grow();

  bool may_grow_ = true;
  size_t taken_ = 0;
  std::vector<unsigned char*> pieces_;  // of larger mappings, too
  std::vector<size_t> mapped_bytes_;    // of the mapping that begins with this piece; 0: none does
};

}  // namespace heapprof::cli
