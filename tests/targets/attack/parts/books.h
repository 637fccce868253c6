// tests/targets/attack/parts/books.h: what each process of the attacker says of itself, by site, in a file that it
// shares with the driver.
//
// Guarantees
//  - A process killed at any instruction leaves true bounds: what is begun was counted before the call, what is done
//    after it. The profile's number lies between the two; where no call was interrupted they are one.
//  - A child that was forked inside a handler, and goes on with what its parent was in the middle of, allows for that
//    call in its own books (`slack`), and never counts in its parent's.
//
// Context:  threads, signal handlers, forked children. No locks, no allocation.
#pragma once

#include "sites.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace attack {

using Count = std::atomic<uint64_t>;

struct SiteBook {
  Count begun_blocks, begun_bytes, done_blocks, done_bytes;                  // allocations
  Count end_begun_blocks, end_begun_bytes, end_done_blocks, end_done_bytes;  // frees of such blocks by this process
  Count slack_blocks, slack_bytes;                                           // may be more or less by so much
};

enum Excuse : uint32_t {
  kExcuseProfile = 1,     // a profile may be missing
  kExcuseIncomplete = 2,  // events may be lost, if they are counted: agent/README.md, "Limits, stated"
  kExcuseKilled = 4,      // killed inside of reallocs: another thread may have had the address that one gave back
  kExcuseStacks = 8,      // truncated stacks are no fault
  kExcuseResumed = 16,    // goes on with an allocation of its parent, whose block it may free
};

struct ProcessBook {
  std::atomic<int32_t> pid;
  uint32_t index, parent;
  std::atomic<uint32_t> excuses;
  std::atomic<uint32_t> is_image;  // began by exec
  std::atomic<uint32_t> step;      // the step that made it
  char why[40];
  SiteBook sites[kSites];
};

constexpr size_t kPageBytes = 4096;
constexpr size_t kBookBytes = (sizeof(ProcessBook) + kPageBytes - 1) / kPageBytes * kPageBytes;
constexpr uint32_t kMostProcesses = 2048;
constexpr uint32_t kMostSteps = 512;
constexpr uint64_t kMagic = 0x6b6f6f4261747441;

struct BooksHead {
  uint64_t magic;
  std::atomic<uint32_t> processes;
  uint32_t site_count;
  uint64_t book_bytes;
  std::atomic<int64_t> results[kMostSteps];
};
constexpr size_t kHeadBytes = (sizeof(BooksHead) + kPageBytes - 1) / kPageBytes * kPageBytes;

// My own book lies at one address in every process, so that an interrupted call which goes on in a forked child counts
// in the child's.
inline ProcessBook* const kMine = reinterpret_cast<ProcessBook*>(0x200000000000);

// A call of this thread that has begun and is not done.
struct Note {
  Note* outer;
  uint32_t site;
  uint64_t bytes;
};
extern thread_local Note* t_notes;
extern thread_local uint32_t t_step;  // the step that this thread does, from 1

bool open_books(const char* path, bool is_new);
BooksHead* head();
ProcessBook* book(uint32_t index);
// Takes a book for a process that is to be made; its maker writes the pid.
uint32_t claim_book(const char* why);
// From here on `kMine` is that book. In the new process, before it allocates.
void enter_book(uint32_t index);
void excuse(uint32_t excuses);

inline void add(Count& count, uint64_t value) { count.fetch_add(value, std::memory_order_relaxed); }

// What a block of the attacker begins with.
struct Block {
  uint32_t site, process;
  uint64_t bytes;
};
constexpr size_t kLeastBytes = sizeof(Block);

class Allocation {
 public:
  Allocation(uint32_t site, uint64_t bytes) : note_{t_notes, site, bytes} {
    t_notes = &note_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    add(kMine->sites[site].begun_blocks, 1);
    add(kMine->sites[site].begun_bytes, bytes);
  }
  Allocation(const Allocation&) = delete;
  ~Allocation() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_notes = note_.outer;
  }
  void* made(void* address) {
    SiteBook& site = kMine->sites[note_.site];
    if (address == nullptr) {  // refused: as if it had never begun
      site.begun_blocks.fetch_sub(1);
      site.begun_bytes.fetch_sub(note_.bytes);
      return nullptr;
    }
    add(site.done_blocks, 1);
    add(site.done_bytes, note_.bytes);
    *static_cast<Block*>(address) = {note_.site, kMine->index, note_.bytes};
    return address;
  }

 private:
  Note note_;
};

class Ending {
 public:
  explicit Ending(const void* address)
      : block_(*static_cast<const Block*>(address)), note_{t_notes, block_.site, block_.bytes} {
    t_notes = &note_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!is_mine()) return;
    add(kMine->sites[block_.site].end_begun_blocks, 1);
    add(kMine->sites[block_.site].end_begun_bytes, block_.bytes);
  }
  Ending(const Ending&) = delete;
  ~Ending() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_notes = note_.outer;
  }
  void done() {
    if (!is_mine()) return;
    add(kMine->sites[block_.site].end_done_blocks, 1);
    add(kMine->sites[block_.site].end_done_bytes, block_.bytes);
  }

 private:
  bool is_mine() const { return block_.process == kMine->index; }  // an inherited block is its parent's business
  Block block_;
  Note note_;
};

}  // namespace attack
