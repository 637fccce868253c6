// cli/collect/books/live_heap.h: the live blocks, by address.
//
// Heap blocks are clustered, and those in use at one time are close together; hashing each address would scatter them.
// So blocks are kept by pages of addresses (2 KiB). A page with few blocks has a short list of them. One with many has
// a byte for each granule where a block can begin: the number of the block's entry. A SplittingTable finds pages.
//
// Guarantees
//  - At most one block an address; address 0 is never in it. Any other address is accepted: addresses are rotated by
//    four bits, so that unaligned ones, which no allocator returns, are in pages of their own.
//  - Without memory an insert throws std::bad_alloc and has changed nothing. A look-up allocates nothing.
//  - A page without blocks is dropped, and its memory is reused. Of the empty pages with a short list, the last
//    kEmptied are kept, so that a loop that allocates and frees one block does not create and drop its page each time.
//  - A page keeps the memory that it needed at its fullest. Memory goes back to the system only at release().
// Cost:     26-40 bytes a live block if its page has 16 blocks or more (45 if blocks have 112 bytes). At most 96 bytes
//           wherever blocks are, of which 32-43 are for the page itself. (tests/unit/collect/live_heap_test.cc)
#pragma once

#include "cli/collect/memory/prefetch.h"
#include "cli/collect/memory/slab_pool.h"
#include "cli/collect/memory/splitting_table.h"
#include "cli/collect/rings/event.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapprof::cli {

struct Block {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t birth;  // ticks
  uint32_t site;
  uint32_t thread;    // slot of the thread that allocated it
  uint32_t rate = 0;  // by which it was sampled (sample_weight.h); 0: all are recorded

  uint64_t size_word() const { return pack_size(size_bytes, rate); }
};

class LiveHeap {
 public:
  // A block without its address.
  struct Entry {
    uint64_t size_word;
    uint64_t birth;
    uint32_t site;
    uint32_t thread;

    uint64_t size_bytes() const { return size_of(size_word); }
    Block block(uint64_t address) const { return {address, size_bytes(), birth, site, thread, rate_of(size_word)}; }
  };
  static_assert(sizeof(Entry) == 24);

  // A page of addresses.
  struct Page {
    uint64_t number;      // rotr(address, kTurn) / kGranules + 1; 0: no page
    uint32_t block_unit;  // where its ShortList or Index is in the pool
    uint8_t live;         // blocks
    uint8_t made;         // with a list: its size class; with an index: the entries it has ever needed
    uint8_t first_free;   // with an index: number of a free entry, whose `site` is that of the next; 0: none
    uint8_t has_index : 1;
    uint8_t is_emptied : 1;  // it is listed in emptied_

    bool is_free() const { return number == 0; }
  };

  LiveHeap();
  LiveHeap(const LiveHeap&) = delete;
  LiveHeap& operator=(const LiveHeap&) = delete;

  size_t size() const { return size_; }
  // As SplittingTable::mean_probes(), of pages.
  double mean_probes() const { return pages_.mean_probes(key_of); }
  uint64_t bytes() const { return pool_.bytes() + pages_.directory_bytes(); }
  // Whether the tables are too large for a cache close to the core, so that prefetching pays.
  bool is_large() const { return pool_.taken() > kSmallSlabs; }

  // Three steps prepare an event, each for the next one: find the page, prefetch its index, prefetch the entry. A few
  // events later the page that was found may be outdated, so it is only a guess; but it is safe to read. nullptr is
  // always a valid guess.
  const Page* page_of(uint64_t address) const { return page_of(nullptr, address); }
  void prefetch_index(const Page* page, uint64_t address) const {
    if (page == nullptr) return;
    const auto* block = static_cast<const unsigned char*>(pool_.at(page->block_unit));
    if (page->has_index == 0) return prefetch_line(block);
    prefetch_line(block + granule_of(address));
    prefetch_line(block + kGranules);
  }
  // The block at an address of this page; nullptr: it is not live, or the guess is outdated.
  const Entry* peek(const Page* page, uint64_t address) const {
    return page != nullptr && page->number == number_of(address) ? entry_in(*page, granule_of(address)) : nullptr;
  }

  // nullptr: not live. The pointer is valid until the next insert or take.
  Entry* find(uint64_t address) {
    const Page* page = page_of(nullptr, address);
    return page == nullptr ? nullptr : entry_in(*page, granule_of(address));
  }

  // The block at this address, added if there was none; the caller fills in the rest. pre: address is not 0
  Entry* insert(uint64_t address, bool* is_new) { return insert(nullptr, address, is_new); }
  [[gnu::always_inline]] Entry* insert(const Page* guess, uint64_t address, bool* is_new) {
    Page* page = page_of(guess, address);
    if (page == nullptr) [[unlikely]]
      page = add_page(number_of(address));
    const uint32_t granule = granule_of(address);
    Entry* entry = nullptr;
    if (page->has_index != 0) {
      Index& index = index_of(*page);
      const uint32_t number = index.numbers[granule];
      entry = number == 0 ? add_to_index(page, &index, granule) : numbered(index, number);
      *is_new = number == 0;
    } else {
      ShortList& list = list_of(*page);
      const uint32_t i = list.find(granule);
      entry = i == kMostListed ? add_to_list(page, &list, granule) : &list.entries[i];
      *is_new = i == kMostListed;
    }
    page->live += *is_new;
    size_ += *is_new;
    return entry;
  }

  // Removes the block at this address into *taken. False: no block is live there.
  bool take(uint64_t address, Block* taken) { return take(nullptr, address, taken); }
  [[gnu::always_inline]] bool take(const Page* guess, uint64_t address, Block* taken) {
    Page* page = page_of(guess, address);
    if (page == nullptr) [[unlikely]]
      return false;
    const uint32_t granule = granule_of(address);
    if (page->has_index != 0) {
      Index& index = index_of(*page);
      const uint8_t number = index.numbers[granule];
      if (number == 0) [[unlikely]]
        return false;
      Entry* entry = numbered(index, number);
      *taken = entry->block(address);
      entry->site = page->first_free;
      page->first_free = number;
      index.numbers[granule] = 0;
    } else {
      ShortList& list = list_of(*page);
      const uint32_t i = list.find(granule);
      if (i == kMostListed) [[unlikely]]
        return false;
      *taken = list.entries[i].block(address);
      const uint32_t last = page->live - 1u;
      if (i != last) {
        list.entries[i] = list.entries[last];
        list.set(i, list.granule(last));
      }
      list.clear(last);
    }
    --size_;
    if (--page->live == 0 && (page->is_emptied == 0 || page->has_index != 0)) [[unlikely]]
      note_emptied(page);
    return true;
  }

  // From here on no memory is requested from the system: insert uses what there is, and then throws.
  void stop_growing();
  // Forgets all blocks and frees their memory. pre: nothing is looked up or inserted any more
  void release();

  // visit(const Block&), in no particular order.
  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    if (size_ == 0) return;
    pages_.for_each([&](const Page& page) {
      if (page.has_index != 0) return visit_index(page, visit);
      const ShortList& list = list_of(page);
      for (uint32_t i = 0; i < page.live; ++i) visit(list.entries[i].block(address_of(page, list.granule(i))));
    });
  }

 private:
  static constexpr uint32_t kGranules = 128;  // of a page: 16 bytes each
  static constexpr uint32_t kTurn = 4;
  static constexpr uint32_t kMostListed = 8;
  static constexpr uint8_t kNoGranule = 0xff;
  static constexpr uint32_t kRunEntries = 8;
  static constexpr size_t kSmallSlabs = 256;
  static constexpr size_t kLatest = 256;
  static constexpr size_t kEmptied = 64;

  // Up to kMostListed blocks in any order. It is allocated only up to the entries of its size class.
  struct ShortList {
    uint64_t granules;  // the granules of the entries, a byte each; kNoGranule after the last
    std::array<Entry, kMostListed> entries;

    // The word is read and written whole: a processor forwards a recent store only to loads of the same size.
    uint32_t granule(uint32_t i) const { return granules >> 8 * i & 0xff; }
    void set(uint32_t i, uint64_t granule) { granules = (granules & ~(uint64_t{0xff} << 8 * i)) | granule << 8 * i; }
    void clear(uint32_t i) { granules |= uint64_t{kNoGranule} << 8 * i; }
    // The entry of this granule; kMostListed: none. It is at the lowest zero byte of `differs`.
    uint32_t find(uint32_t granule) const {
      constexpr uint64_t kOnes = 0x0101010101010101;
      const uint64_t differs = granules ^ kOnes * granule;
      const uint64_t zeros = (differs - kOnes) & ~differs & kOnes << 7;
      return static_cast<uint32_t>(std::countr_zero(zeros)) / 8;
    }
  };
  // More blocks: entry n is in run (n - 1) / kRunEntries.
  struct Index {
    std::array<uint8_t, kGranules> numbers;  // the numbers of the entries, from 1; 0: no block begins here
    std::array<uint32_t, kGranules / kRunEntries> run_units;
  };
  using Run = std::array<Entry, kRunEntries>;

  // The pool's size classes: short lists of 1, 2, 4, 8 entries; indexes and runs.
  static constexpr std::array<uint32_t, 5> kClassBytes = {32, 56, 104, 200, 192};
  static constexpr uint32_t kBlockClass = 4;
  static_assert(sizeof(ShortList) == kClassBytes[3] && sizeof(Index) == kClassBytes[kBlockClass] &&
                sizeof(Run) == kClassBytes[kBlockClass]);

  // ---- Addresses ----

  static uint64_t number_of(uint64_t address) { return std::rotr(address, kTurn) / kGranules + 1; }
  static uint32_t granule_of(uint64_t address) { return address >> kTurn & (kGranules - 1); }
  static uint64_t address_of(const Page& page, uint32_t granule) {
    return std::rotl((page.number - 1) * kGranules | granule, kTurn);
  }
  // Four neighbouring pages have one hash, and so share a cache line of the table.
  static uint32_t hash_of(uint64_t number) {
    uint64_t hash = number / SplittingTable<Page>::kNear * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
    return static_cast<uint32_t>(hash >> 32);
  }
  static uint32_t near_of(uint64_t number) { return number % SplittingTable<Page>::kNear; }
  static SplittingTable<Page>::Key key_of(const Page& page) { return {hash_of(page.number), near_of(page.number)}; }

  // ---- Pages ----

  Page* find_page(uint64_t number) const {
    return pages_.find(hash_of(number), near_of(number), [number](const Page& page) { return page.number == number; });
  }
  Page* page_of(const Page* guess, uint64_t address) const {
    const uint64_t number = number_of(address);
    if (guess != nullptr && guess->number == number) return const_cast<Page*>(guess);
    Page*& latest = latest_[number % kLatest];
    if (latest == nullptr || latest->number != number) {
      Page* page = find_page(number);
      if (page == nullptr) return nullptr;
      latest = page;
    }
    return latest;
  }
  ShortList& list_of(const Page& page) const { return *static_cast<ShortList*>(pool_.at(page.block_unit)); }
  Index& index_of(const Page& page) const { return *static_cast<Index*>(pool_.at(page.block_unit)); }
  Entry* numbered(const Index& index, uint32_t number) const {
    return &(*static_cast<Run*>(pool_.at(index.run_units[(number - 1) / kRunEntries])))[(number - 1) % kRunEntries];
  }

  Entry* entry_in(const Page& page, uint32_t granule) const {
    if (page.has_index != 0) {
      const Index& index = index_of(page);
      const uint8_t number = index.numbers[granule];
      return number == 0 ? nullptr : numbered(index, number);
    }
    ShortList& list = list_of(page);
    const uint32_t i = list.find(granule);
    return i == kMostListed ? nullptr : &list.entries[i];
  }

  Entry* add_to_list(Page* page, ShortList* list, uint32_t granule) {
    if (page->live == 1u << page->made) [[unlikely]] {
      if (!widen(page)) return add_to_index(page, &index_of(*page), granule);
      list = &list_of(*page);
    }
    list->set(page->live, granule);
    return &list->entries[page->live];
  }
  Entry* add_to_index(Page* page, Index* index, uint32_t granule) {
    if (page->first_free != 0) {
      index->numbers[granule] = page->first_free;
      Entry* entry = numbered(*index, page->first_free);
      page->first_free = static_cast<uint8_t>(entry->site);
      return entry;
    }
    if (page->made % kRunEntries == 0) index->run_units[page->made / kRunEntries] = allocate(kBlockClass);
    index->numbers[granule] = ++page->made;
    return numbered(*index, page->made);
  }

  template <typename Visitor>
  void visit_index(const Page& page, const Visitor& visit) const {
    const Index& index = index_of(page);
    for (uint32_t first = 0; first < kGranules; first += sizeof(uint64_t)) {
      uint64_t numbers;
      std::memcpy(&numbers, &index.numbers[first], sizeof numbers);
      if (numbers == 0) continue;
      for (uint32_t granule = first; granule < first + sizeof numbers; ++granule) {
        if (const uint8_t number = index.numbers[granule])
          visit(numbered(index, number)->block(address_of(page, granule)));
      }
    }
  }

  Page* add_page(uint64_t number);
  bool widen(Page* page);
  void note_emptied(Page* page);
  void forget_emptied(uint64_t number);
  void drop(Page* page);
  uint32_t allocate(uint32_t size_class);
  void give_back(uint32_t unit, uint32_t size_class);

  SlabPool pool_;
  SplittingTable<Page> pages_;
  mutable std::array<Page*, kLatest> latest_{};  // the pages found last, by their numbers' last bits
  // Numbers of the pages that were emptied last; 0: none. They may have blocks again, or be gone.
  std::array<uint64_t, kEmptied> emptied_{};
  size_t next_emptied_ = 0;
  bool keeps_emptied_ = true;
  size_t size_ = 0;
  std::array<uint32_t, kClassBytes.size()> free_units_;   // heads of free lists: each unit begins with the next one
  std::array<uint32_t, kClassBytes.size()> fresh_units_;  // the next unused unit in the latest slab of this class
  std::array<uint32_t, kClassBytes.size()> fresh_counts_{};
};

}  // namespace heapprof::cli
