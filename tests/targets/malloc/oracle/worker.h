// tests/targets/malloc/oracle/worker.h: one thread of random work.
#pragma once

#include "books.h"
#include "raw.h"
#include "sites.h"

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace oracle {

struct Block {
  void* address;
  size_t asked_bytes;     // given to the function; to the sized forms of release
  size_t recorded_bytes;  // what malloc saw
  size_t alignment;
  uint64_t serial;  // the owner's allocations so far, this one included
  uint32_t owner;   // thread
  uint32_t key;
  Release release;
};

// Where threads hand blocks over without a lock: a box is empty, full, or in someone's hands.
struct Box {
  std::atomic<uint32_t> state;
  Block block;
};
inline constexpr uint32_t kBoxes = 512;

struct Settings {
  bool timed;  // note when each call began and returned; off, the fences that this takes hide no inversion of stamps
  uint32_t stacks;  // number of known stacks
  bool huge;        // blocks beyond 4 GiB, untouched
  // nothing that Valgrind's DHAT counts otherwise: no realloc (it books them on the block's first site), no block of 0
  // bytes (it counts 1), no pvalloc and no throw (they end the program), aligned operator new of whole alignments only
  // (it does not see libstdc++ round them up)
  bool as_valgrind;
  // nothing that jemalloc, tcmalloc and mimalloc do otherwise: no pvalloc, nothing that must fail
  bool on_other_allocator;
};

class Worker {
 public:
  void start(uint32_t thread, uint64_t seed, const Settings& settings, Box* boxes, size_t log_room);
  void work(uint64_t operations);
  // Alone: allocates more than all that ended since the last time, so that the peak since then is here, and frees it
  // again.
  void make_cap(uint64_t ended_bytes, uint64_t ended_blocks);
  // Gives back three of four held blocks; the rest leak.
  void finish();

  // Ended since the last call.
  void take_ended(uint64_t* ended_bytes, uint64_t* ended_blocks);
  Log log;

 private:
  static constexpr uint32_t kHeld = 384;

  size_t random_size();
  uint32_t random_stack();
  bool allocate(Block* block);
  bool allocate_as(Block* block, Kind kind, size_t asked_bytes);
  void release(const Block& block);
  void reallocate(Block* block);
  void reallocate_to(Block* block, size_t asked_bytes);
  void try_failure();
  void throw_once();
  void add_exception(Kind kind, uint32_t stack, uint64_t called);
  void put(Block* held);
  void take();
  Temporary is_temporary(const Block& block) const;
  uint64_t now() const { return settings_.timed ? fenced_time() : 0; }
  void end_entry(const Block& block, uint64_t called, uint64_t returned);

  uint32_t thread_;
  uint64_t serial_;
  uint64_t ended_bytes_, ended_blocks_;
  uint64_t random_state_;
  Settings settings_;
  Box* boxes_;
  Block held_[kHeld];
};

}  // namespace oracle
