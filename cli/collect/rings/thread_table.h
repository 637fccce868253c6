// cli/collect/rings/thread_table.h: the target's threads: a slot for each that may still write, sums for those that
// ended.
//
// The kernel may reuse a thread id, and one thread may own several rings (signal handlers). A slot belongs to one use
// of an id. The decoder calls enter() when a ring names a thread, and leave() when the ring gets another owner. The
// ledger, which sees events later, calls left() when it has seen the thread's last event from that ring.
//
// Guarantees
//  - Memory is bounded by the number of threads alive at one time, plus one slot for each live block that an ended
//    thread allocated last, plus 2,000 ended threads. If more threads have ended, the largest by bytes are kept, and
//    the rest are summed.
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
  uint64_t last_address;  // of its latest block, while this is live: if this block ends now, it is temporary
  uint64_t allocations;
  uint64_t total_bytes;
  uint64_t frees;
  uint32_t id;            // kernel thread id
  uint32_t open_rings;    // rings entered and not left by the decoder
  uint32_t open_streams;  // rings entered and not left by the ledger
  uint32_t has_ended;     // its numbers are summed up; the slot waits for its last block
  uint32_t scopes;        // its stack in ScopeBook; 0: it is in no scope
  uint32_t pauses;        // how many pauses it is in
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

  // For the ledger: [] and at() return the thread of a slot; left() says that the thread's last event from one of its
  // rings was applied.
  ThreadSlot& operator[](uint32_t slot) { return slots_[slot]; }
  const ThreadSlot& at(uint32_t slot) const { return slots_[slot]; }
  void left(uint32_t slot);
  // Call it when the thread has ended and its last block is gone too.
  void release(uint32_t slot);

  // The sums of all threads, past and present.
  ThreadSlot sum() const;

  // Reads at most `budget` names of threads. `read(id)` returns the name of a thread, empty if it cannot be read.
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

  // Returns the result: the largest threads first; `others` is the sum of the dropped ones.
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
