// cli/collect/books/largest_blocks.cc: an address may be noted twice, if its block ended and another one began there;
// the heap says what is there now.
#include "cli/collect/books/largest_blocks.h"

namespace heapprof::cli {

void LargestBlocks::drop_dead(LiveHeap* heap) {
  const uint64_t least_bytes = floor_bytes_ == 0 ? 0 : floor_bytes_ - 1;  // as keep_largest() leaves them
  std::sort(noted_.begin(), noted_.end(), [](const Noted& a, const Noted& b) { return a.address < b.address; });
  size_t kept = 0;
  for (size_t i = 0; i < noted_.size(); ++i) {
    const uint64_t address = noted_[i].address;
    if (kept != 0 && noted_[kept - 1].address == address) continue;
    const LiveHeap::Entry* entry = heap->find(address);
    if (entry != nullptr && entry->size_bytes() >= least_bytes) noted_[kept++] = {address, entry->size_bytes()};
  }
  noted_.resize(kept);
}

// The floor is above the smallest block that is kept: other blocks of its size may be missing in the list.
void LargestBlocks::keep_largest() {
  if (noted_.size() <= kKept) return;
  const auto larger = [](const Noted& a, const Noted& b) { return a.size_bytes > b.size_bytes; };
  std::nth_element(noted_.begin(), noted_.begin() + kKept - 1, noted_.end(), larger);
  noted_.resize(kKept);
  floor_bytes_ = noted_.back().size_bytes == UINT64_MAX ? UINT64_MAX : noted_.back().size_bytes + 1;
}

void LargestBlocks::tidy(LiveHeap* heap) {
  drop_dead(heap);
  if (noted_.size() > kMostNoted / 2) keep_largest();
}

std::vector<Block> LargestBlocks::find(LiveHeap* heap) {
  drop_dead(heap);
  if (noted_.size() < std::min(kFound, heap->size())) {
    noted_.clear();
    floor_bytes_ = 0;
    heap->for_each([this](const Block& block) {
      if (!is_large(block.size_bytes)) return;
      if (noted_.size() == kMostNoted) keep_largest();
      if (is_large(block.size_bytes)) noted_.push_back({block.address, block.size_bytes});
    });
    keep_largest();
  }
  const auto larger = [](const Noted& a, const Noted& b) { return a.size_bytes > b.size_bytes; };
  const size_t count = std::min(kFound, noted_.size());
  std::partial_sort(noted_.begin(), noted_.begin() + static_cast<std::ptrdiff_t>(count), noted_.end(), larger);
  std::vector<Block> found;
  for (size_t i = 0; i < count; ++i) {
    if (const LiveHeap::Entry* entry = heap->find(noted_[i].address)) found.push_back(entry->block(noted_[i].address));
  }
  return found;
}

}  // namespace heapprof::cli
