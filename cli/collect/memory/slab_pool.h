// cli/collect/memory/slab_pool.h: memory in slabs of a page, each with a number, that never move.
//
// A table made of slabs grows by one slab at a time: nothing is copied, and nothing is cleared twice.
//
// Guarantees
//  - A slab is aligned to its size. It is zero when it is taken.
//  - Running out throws std::bad_alloc and has changed nothing.
//  - kReserve slabs are always left, for data that must still be stored after stop_growing().
// Cost:     memory is mapped 256 KiB at a time; once there are 2 MiB, 2 MiB at a time, in huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

class SlabPool {
 public:
  static constexpr size_t kSlabBytes = 4096;
  static constexpr size_t kUnitBytes = 8;  // a 32-bit unit number can address 32 GiB
  static constexpr uint32_t kSlabUnits = kSlabBytes / kUnitBytes;
  static constexpr size_t kReserve = 16;

  SlabPool() = default;
  ~SlabPool() { release(); }
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // A new slab: the number of its first unit.
  uint32_t take();
  // The memory at a unit of a slab that was taken.
  void* at(uint32_t unit) const { return pieces_[unit / kPieceUnits] + size_t{unit % kPieceUnits} * kUnitBytes; }

  // From here on no memory is requested from the system: the pool uses the memory that it has, including the reserve.
  void stop_growing() { may_grow_ = false; }
  // Frees all. pre: no slab is used any more
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
  std::vector<unsigned char*> pieces_;  // larger mappings have several pieces here
  std::vector<size_t> mapped_bytes_;    // of the mapping that begins with this piece; 0: no mapping begins here
};

}  // namespace heapprof::cli
