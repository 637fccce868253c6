// cli/collect/memory/splitting_table.h: a hash table of 16-byte slots that grows by parts of one page each (extendible
// hashing).
//
// A directory finds the part of a hash by its first bits; linear probing finds a slot within a part. A part that is
// nearly full is split in two by one more bit: so an insert moves 252 slots at most, never all of them.
//
// The caller supplies a 32-bit hash. Parts are split by its first kMaxDepth bits; beyond that a full part gets an
// overflow part. Keys with forged equal hashes make look-ups slow, and the directory 8 MiB.
//
// Guarantees
//  - If there is no memory, an insert uses the free slots of its part. When there are none left, it throws
//    std::bad_alloc and has changed nothing.
//  - A slot stays where it is until the next insert or erase. Its memory can be read until release().
// Cost:     21-43 bytes a slot, 8 bytes of directory a part.
#pragma once

#include "cli/collect/memory/prefetch.h"
#include "cli/collect/memory/slab_pool.h"

#include <array>
#include <cstdint>
#include <new>
#include <vector>

namespace heapprof::cli {

// Slot: 16 bytes without a constructor. It has a bool is_free() const, which returns true if all bytes are zero.
template <typename Slot>
class SplittingTable {
 public:
  static constexpr uint32_t kSlots = 252;  // of a part
  static constexpr uint32_t kMaxDepth = 20;

  // pool: supplies the parts; it must outlive the table.
  explicit SplittingTable(SlabPool* pool) : pool_(*pool), directory_{new_part(0)} {}
  SplittingTable(const SplittingTable&) = delete;
  SplittingTable& operator=(const SplittingTable&) = delete;

  // The preferred slot of this hash in its part; `near` selects one of 4 slots with equal hashes.
  static uint32_t home(uint32_t hash, uint32_t near) {
    return ((hash & kHomeMask) * (kSlots / kNear) >> kHomeBits) * kNear + near;
  }
  static constexpr uint32_t kNear = 4;  // slots of a cache line

  void prefetch(uint32_t hash, uint32_t near) const { prefetch_line(&part_of(hash)->slots[home(hash, near)]); }

  // The slot for which is_wanted(slot) is true; nullptr: no such slot.
  template <typename IsWanted>
  Slot* find(uint32_t hash, uint32_t near, const IsWanted& is_wanted) const {
    Part* part = part_of(hash);
    do {
      for (uint32_t i = home(hash, near);; i = next(i)) {
        Slot& slot = part->slots[i];
        if (is_wanted(slot)) return &slot;
        if (slot.is_free()) break;
      }
      part = part->overflow;
    } while (part != nullptr);
    return nullptr;
  }

  // Adds a slot that is not in the table. key_of(slot) returns the Key with which a slot was added.
  struct Key {
    uint32_t hash;
    uint32_t near;
  };
  template <typename KeyOf>
  Slot* insert(Key key, const Slot& slot, const KeyOf& key_of) {
    Part* part = part_of(key.hash);
    if (part->used >= kSplitFrom) [[unlikely]]
      part = make_room(key.hash, key_of);
    return put(part, key, slot);
  }

  // pre: `slot` is one of this table's
  template <typename KeyOf>
  void erase(Slot* slot, const KeyOf& key_of) {
    Part* part = reinterpret_cast<Part*>(reinterpret_cast<uintptr_t>(slot) & ~uintptr_t{SlabPool::kSlabBytes - 1});
    auto gap = static_cast<uint32_t>(slot - part->slots.data());
    for (uint32_t i = next(gap);; i = next(i)) {
      const Slot& moved = part->slots[i];
      if (moved.is_free()) break;
      const Key key = key_of(moved);
      if (distance(home(key.hash, key.near), i) < distance(gap, i)) continue;  // in the gap it would be before its home
      part->slots[gap] = moved;
      gap = i;
    }
    part->slots[gap] = {};
    --part->used;
  }

  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    for (size_t i = 0; i < directory_.size(); i += size_t{1} << (depth_ - directory_[i]->depth)) {
      for (const Part* part = directory_[i]; part != nullptr; part = part->overflow) {
        for (const Slot& slot : part->slots) {
          if (!slot.is_free()) visit(slot);
        }
      }
    }
  }

  // The mean number of slots probed until one is found. For tests, as slow look-ups change no result.
  template <typename KeyOf>
  double mean_probes(const KeyOf& key_of) const {
    uint64_t sum = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < directory_.size(); i += size_t{1} << (depth_ - directory_[i]->depth)) {
      uint64_t before = 0;  // in the parts that are probed first
      for (const Part* part = directory_[i]; part != nullptr; part = part->overflow, before += kSlots) {
        for (uint32_t at = 0; at < kSlots; ++at) {
          if (part->slots[at].is_free()) continue;
          const Key key = key_of(part->slots[at]);
          sum += before + distance(home(key.hash, key.near), at) + 1;
          ++count;
        }
      }
    }
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }

  size_t parts() const { return parts_; }
  uint64_t directory_bytes() const { return directory_.capacity() * sizeof(Part*); }

 private:
  static constexpr uint32_t kHomeBits = 12;
  static constexpr uint32_t kHomeMask = (1u << kHomeBits) - 1;
  static constexpr uint32_t kSplitFrom = kSlots / 4 * 3;
  static_assert(kHomeBits + kMaxDepth <= 32);

  struct Part {
    Part* overflow;  // more slots of the same hashes; nullptr: none
    uint32_t used;
    uint32_t depth;  // bits that all of its hashes share
    std::array<uint64_t, 6> reserved;
    std::array<Slot, kSlots> slots;  // one of them is always free: it ends every search
  };
  static_assert(sizeof(Slot) == 16 && sizeof(Part) == SlabPool::kSlabBytes);

  static uint32_t next(uint32_t i) { return i + 1 == kSlots ? 0 : i + 1; }
  static uint32_t distance(uint32_t from, uint32_t to) { return to >= from ? to - from : to + kSlots - from; }

  Part* part_of(uint32_t hash) const { return directory_[uint64_t{hash} >> (32 - depth_)]; }

  Part* new_part(uint32_t depth) {
    auto* part = static_cast<Part*>(pool_.at(pool_.take()));
    part->depth = depth;
    ++parts_;
    return part;
  }

  static Slot* put(Part* part, Key key, const Slot& slot) {
    uint32_t i = home(key.hash, key.near);
    while (!part->slots[i].is_free()) i = next(i);
    part->slots[i] = slot;
    ++part->used;
    return &part->slots[i];
  }

  // A part of this hash with a free slot.
  template <typename KeyOf>
  Part* make_room(uint32_t hash, const KeyOf& key_of) {
    for (;;) {
      Part* part = part_of(hash);
      if (part->used < kSplitFrom) return part;
      const bool may_split = part->depth < kMaxDepth && part->overflow == nullptr;
      try {
        if (may_split) {
          split(part, hash, key_of);
          continue;
        }
      } catch (const std::bad_alloc&) {
        if (part->used == kSlots - 1) throw;
        return part;
      }
      while (part->used == kSlots - 1) {
        if (part->overflow == nullptr) part->overflow = new_part(part->depth);
        part = part->overflow;
      }
      return part;
    }
  }

  template <typename KeyOf>
  void split(Part* part, uint32_t hash, const KeyOf& key_of) {
    if (part->depth == depth_) double_directory();
    Part* const second = new_part(part->depth + 1);
    const std::array<Slot, kSlots> slots = part->slots;
    const uint32_t depth = ++part->depth;
    part->used = 0;
    part->slots = {};
    for (const Slot& slot : slots) {
      if (slot.is_free()) continue;
      const Key key = key_of(slot);
      const bool is_second = (key.hash >> (32 - depth) & 1) != 0;
      put(is_second ? second : part, key, slot);
    }
    // The directory's entries of the old part are adjacent; the second half of them becomes the new part's.
    const size_t count = size_t{1} << (depth_ - depth);
    const size_t first = (uint64_t{hash} >> (32 - depth) | 1) << (depth_ - depth);
    for (size_t i = 0; i < count; ++i) directory_[first + i] = second;
  }

  void double_directory() {
    std::vector<Part*> doubled(2 * directory_.size());
    for (size_t i = 0; i < doubled.size(); ++i) doubled[i] = directory_[i / 2];
    directory_.swap(doubled);
    ++depth_;
  }

  SlabPool& pool_;
  uint32_t depth_ = 0;
  size_t parts_ = 0;
  std::vector<Part*> directory_;  // 2^depth_ entries
};

}  // namespace heapprof::cli
