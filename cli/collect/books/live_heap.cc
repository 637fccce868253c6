// cli/collect/books/live_heap.cc: see live_heap.h.
//
// A page goes through five forms as it fills: short lists of 1, 2, 4 and 8 entries, then an index. Until the page has
// an index, its entries are copied each time it grows, 15 of them at most in all. From then on entries are added in
// runs and never moved. All memory comes in five sizes, each with a free list, so that pages that fill up reuse the
// memory of pages that were emptied.
#include "cli/collect/books/live_heap.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint32_t kNoUnit = UINT32_MAX;

}  // namespace

LiveHeap::LiveHeap() : pages_(&pool_) { free_units_.fill(kNoUnit); }

void LiveHeap::release() {
  pool_.release();
  size_ = 0;
}

uint32_t LiveHeap::allocate(uint32_t size_class) {
  uint32_t& first = free_units_[size_class];
  if (first != kNoUnit) {
    const uint32_t unit = first;
    std::memcpy(&first, pool_.at(unit), sizeof first);
    return unit;
  }
  if (fresh_counts_[size_class] == 0) {
    fresh_units_[size_class] = pool_.take();
    fresh_counts_[size_class] = static_cast<uint32_t>(SlabPool::kSlabBytes / kClassBytes[size_class]);
  }
  --fresh_counts_[size_class];
  const uint32_t unit = fresh_units_[size_class];
  fresh_units_[size_class] += kClassBytes[size_class] / uint32_t{SlabPool::kUnitBytes};
  return unit;
}

void LiveHeap::give_back(uint32_t unit, uint32_t size_class) {
  std::memcpy(pool_.at(unit), &free_units_[size_class], sizeof unit);
  free_units_[size_class] = unit;
}

LiveHeap::Page* LiveHeap::add_page(uint64_t number) {
  const uint32_t unit = allocate(0);
  const Page page{number, unit, 0, 0, 0, 0, 0};
  list_of(page).granules = UINT64_MAX;
  try {
    return pages_.insert(key_of(page), page, key_of);
  } catch (...) {
    give_back(unit, 0);
    throw;
  }
}

// Doubles the room of a full short list. False: it has become an index.
bool LiveHeap::widen(Page* page) {
  const uint32_t old_unit = page->block_unit, old_class = page->made;
  const ShortList& old = list_of(*page);
  if (page->live < kMostListed) {
    const uint32_t unit = allocate(old_class + 1);
    ShortList& list = *static_cast<ShortList*>(pool_.at(unit));
    list.granules = old.granules;
    std::copy_n(old.entries.begin(), page->live, list.entries.begin());
    page->block_unit = unit;
    page->made = static_cast<uint8_t>(old_class + 1);
    give_back(old_unit, old_class);
    return true;
  }
  const uint32_t unit = allocate(kBlockClass);
  uint32_t run_unit = kNoUnit;
  try {
    run_unit = allocate(kBlockClass);
  } catch (...) {
    give_back(unit, kBlockClass);
    throw;
  }
  Index& index = *static_cast<Index*>(pool_.at(unit));
  index.numbers.fill(0);
  index.run_units[0] = run_unit;
  static_assert(kMostListed == kRunEntries);
  *static_cast<Run*>(pool_.at(run_unit)) = old.entries;
  for (uint32_t i = 0; i < kMostListed; ++i) index.numbers[old.granule(i)] = static_cast<uint8_t>(i + 1);
  *page = {page->number, unit, page->live, kMostListed, 0, 1, page->is_emptied};
  give_back(old_unit, old_class);
  return false;
}

// The page has no blocks any more. It may soon have some again, so the page that was emptied first is dropped instead.
void LiveHeap::note_emptied(Page* page) {
  if (!keeps_emptied_ || page->has_index != 0) return drop(page);
  page->is_emptied = 1;
  const uint64_t longest = std::exchange(emptied_[next_emptied_++ % kEmptied], page->number);
  if (longest != 0) forget_emptied(longest);
}

void LiveHeap::forget_emptied(uint64_t number) {
  Page* page = find_page(number);
  if (page == nullptr) return;
  page->is_emptied = 0;
  if (page->live == 0) drop(page);
}

void LiveHeap::stop_growing() {
  keeps_emptied_ = false;
  for (uint64_t& number : emptied_) {
    if (number != 0) forget_emptied(std::exchange(number, 0));
  }
  pool_.stop_growing();
}

void LiveHeap::drop(Page* page) {
  if (page->has_index != 0) {
    const Index& index = index_of(*page);
    for (uint32_t i = 0; i < page->made; i += kRunEntries) give_back(index.run_units[i / kRunEntries], kBlockClass);
    give_back(page->block_unit, kBlockClass);
  } else {
    give_back(page->block_unit, page->made);
  }
  pages_.erase(page, key_of);
}

}  // namespace heapprof::cli
