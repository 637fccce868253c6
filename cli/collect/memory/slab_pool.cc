// cli/collect/memory/slab_pool.cc: see slab_pool.h.
//
// A program with few blocks should not need the memory for many. So the first pieces are small, and their pages are
// touched only when needed. All pages of large pieces are populated at once: a fault for each page took longer than
// clearing it.
#include "cli/collect/memory/slab_pool.h"

#include "cli/collect/memory/mapped_memory.h"

#include <new>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostUnits = uint64_t{1} << 32;

}  // namespace

uint32_t SlabPool::take() {
  const size_t left = pieces_.size() * kPieceSlabs - taken_;
  if (may_grow_ && left <= kReserve) grow();
  if (pieces_.size() * kPieceSlabs == taken_) throw std::bad_alloc();
  return static_cast<uint32_t>(taken_++ * kSlabUnits);
}

void SlabPool::grow() {
  const bool is_large = pieces_.size() * kPieceBytes >= kHugePageBytes;
  const size_t bytes = is_large ? kHugePageBytes : kPieceBytes;
  const size_t pieces = bytes / kPieceBytes;
  if ((pieces_.size() + pieces) * kPieceUnits > kMostUnits) throw std::bad_alloc();
  if (pieces_.capacity() < pieces_.size() + pieces) pieces_.reserve(2 * (pieces_.size() + pieces));
  if (mapped_bytes_.capacity() < pieces_.capacity()) mapped_bytes_.reserve(pieces_.capacity());
  auto* memory = static_cast<unsigned char*>(is_large ? map_written(bytes) : map_zeroed(bytes));
  for (size_t i = 0; i < pieces; ++i) {
    pieces_.push_back(memory + i * kPieceBytes);
    mapped_bytes_.push_back(i == 0 ? bytes : 0);
  }
}

void SlabPool::release() {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (mapped_bytes_[i] != 0) unmap(pieces_[i], mapped_bytes_[i]);
  }
  pieces_.clear();
  mapped_bytes_.clear();
  taken_ = 0;
}

}  // namespace heapprof::cli
