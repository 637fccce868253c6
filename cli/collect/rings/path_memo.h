// cli/collect/rings/path_memo.h: remembers which call tree node a return address below a given node had last time.
//
// The call tree knows a frame by its location, which the module map has to find first: two look-ups in two tables. Most
// frames were seen a moment ago, below the same frame. For those, one look-up in a table that stays in the cache is
// enough. An entry is dropped when another frame needs its place.
//
// Guarantees
//  - find() returns what was kept for that node, that address and that generation of the modules; nothing from
//    before a forget().
// Cost:     24 bytes an entry that was ever used.
#pragma once

#include "cli/collect/memory/growing_array.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heapprof::cli {

class PathMemo {
 public:
  struct Entry {
    uint64_t pc_avma;
    uint64_t key;   // 0: nothing was kept here
    uint32_t node;  // the node below the key's node, for pc_avma
    uint32_t site;  // the site of exactly this stack; 0: not known
  };

  // The key of a parent and a generation; never 0.
  static uint64_t key_of(uint32_t parent, uint32_t generation) { return (uint64_t{generation} << 32) + parent + 1; }

  // nullptr: not known (any more).
  Entry* find(uint64_t pc_avma, uint64_t key) {
    Entry* entry = &entries_[set_of(pc_avma, key)];
    if (entry->pc_avma == pc_avma && entry->key == key) return entry;
    ++entry;
    return entry->pc_avma == pc_avma && entry->key == key ? entry : nullptr;
  }

  // pre: find() returned nullptr for its key
  Entry& keep(const Entry& entry) {
    Entry* set = &entries_[set_of(entry.pc_avma, entry.key)];
    set[1] = set[0];
    return set[0] = entry;
  }

  // Call it before a batch of records. version: ModuleMap's; if it has changed, all entries are dropped.
  void begin(uint64_t version) {
    if (version_ != version) [[unlikely]]
      forget(version);
    credit_ = pause_left_ == 0 ? kCredit : 0;
    if (pause_left_ != 0) --pause_left_;
  }
  // Whether the memo is useful now: then ask it for the next record's frames.
  bool is_asked() const { return credit_ > 0; }
  void count_miss() { --credit_; }
  // Call it after a batch that began with is_asked(). While too many frames are unknown, the memo is asked only once in
  // a while.
  void end(size_t events) {
    const bool is_of_use = is_asked() && static_cast<size_t>(kCredit - credit_) * kEventsPerMiss <= events;
    pause_ = is_of_use ? 0 : std::min(2 * pause_ + 1, kMostPause);
    pause_left_ = pause_;
  }

 private:
  static constexpr unsigned kSetBits = 11;
  static constexpr size_t kEntries = size_t{2} << kSetBits;
  static constexpr int kCredit = 24;  // misses that a batch may have
  static constexpr size_t kEventsPerMiss = 8;
  static constexpr uint32_t kMostPause = 31;  // batches

  static size_t set_of(uint64_t pc_avma, uint64_t key) {
    const uint64_t product = pc_avma * 0x9E3779B97F4A7C15ull + key * 0xD1B54A32D192ED03ull;
    return product >> (64 - kSetBits) << 1;
  }

  void forget(uint64_t version) {
    if (entries_.size() != 0) std::memset(&entries_[0], 0, kEntries * sizeof(Entry));
    entries_.grow_to(kEntries);
    version_ = version;
  }

  GrowingArray<Entry> entries_;
  uint64_t version_ = UINT64_MAX;
  int credit_ = 0;
  uint32_t pause_ = 0;
  uint32_t pause_left_ = 0;
};

}  // namespace heapprof::cli
