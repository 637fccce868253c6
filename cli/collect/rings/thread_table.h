// cli/collect/rings/thread_table.h: the target's threads: a slot for each that may still write, sums for those that
// ended.
//
// The kernel may reuse a thread id, and one thread may own several rings (signal handlers). A slot belongs to one use
// of an id. The decoder calls enter() when a ring names a thread, and leave() when the ring gets another owner; the
// ledger, which sees events later, calls left() when it has seen the thread's last event from that ring.
//
// Guarantees
//  - Memory is bounded by the number of threads alive at one time, plus one slot for each live block that an ended
//    thread allocated last, plus 2,000 ended threads: if there are more, the largest by bytes are kept, the rest are
//    summed.
//  - A thread is dropped into that sum only if 1,000 others that ended are larger: the 1,000 largest are exact.
#pragma once

#include "cli/collect/memory/growing_array.h"
#include "cli/model/profile/run.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct ThreadSlot {
  uint64_t last_address;  // of its latest block, while that is live: if that ends now, it is temporary
  uint64_t allocations;
  uint64_t total_bytes;
  uint64_t frees;
  uint32_t id;            // kernel thread id
  uint32_t open_rings;    // rings entered and not left by the decoder
  uint32_t open_streams;  // rings entered and not left by the ledger
  uint32_t has_ended;     // its numbers are summed up; the slot waits for its last block
  uint32_t scopes;        // its stack in ScopeBook; 0: it is in no scope
  uint32_t pauses;        // that it is in
};
static_assert(sizeof(ThreadSlot) == 56);

class ThreadTable {
 public:
  static constexpr size_t kKept = 1000;

  ThreadTable();

  // Decoder: a ring's events now belong to thread `id`. Returns its slot.
  uint32_t enter(uint32_t id);
  // Decoder: the ring belongs to another thread from here on.
  void leave(uint32_t slot);

  // Ledger: the thread of a slot; and (left) the last event of the thread from one of its rings has been applied.
  ThreadSlot& operator[](uint32_t slot) { return slots_[slot]; }
  const ThreadSlot& at(uint32_t slot) const { return slots_[slot]; }
  void left(uint32_t slot);
  // The last block of a thread that has ended is gone too.
  void release(uint32_t slot);

  // The sums of all threads, past and present.
  ThreadSlot sum() const;

  // Names. `read(id)` returns the name of a thread, empty if it cannot be read. At most `budget` are read.
  template <typename Reader>
  void refresh_names(size_t budget, const Reader& read) {
    for (; budget != 0 && !unnamed_.empty(); --budget) {
      rename(unnamed_.back(), read);
      unnamed_.pop_back();
    }
    for (size_t scanned = 0; budget != 0 && scanned < slots_.size(); ++scanned) {
      name_cursor_ = name_cursor_ + 1 < slots_.size() ? name_cursor_ + 1 : 1;
      if (slots_.size() < 2 || slots_[name_cursor_].open_rings == 0) continue;
      rename(static_cast<uint32_t>(name_cursor_), read);
      --budget;
    }
  }
  // New threads whose name was not read yet.
  size_t unnamed_count() const { return unnamed_.size(); }

  // The result: largest first; `others` sums what was dropped.
  void finish(std::vector<Thread>* threads, Thread* others, uint64_t* others_count);

 private:
  template <typename Reader>
  void rename(uint32_t slot, const Reader& read) {
    if (slots_[slot].open_rings == 0) return;
    std::string name = read(slots_[slot].id);
    if (!name.empty()) names_[slot] = std::move(name);
  }
  void keep(Thread thread);
  void drop_small();

  GrowingArray<ThreadSlot> slots_;  // [0]: events before any kThread record
  std::vector<std::string> names_;  // by slot
  std::vector<uint32_t> free_;
  std::unordered_map<uint32_t, uint32_t> open_;  // id → slot
  std::vector<uint32_t> unnamed_;
  size_t name_cursor_ = 0;
  std::vector<Thread> ended_;
  Thread others_;
  uint64_t others_count_ = 0;
};

}  // namespace heapprof::cli
