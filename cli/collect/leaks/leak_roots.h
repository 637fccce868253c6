// cli/collect/leaks/leak_roots.h: where the search for pointers begins: all memory of a process that is neither the
// heap's nor heapprof's.
//
//   roots   data of the program and its libraries; of each thread's stack what lies above its stack pointer; its
//           registers and thread-local storage; memory that the program shares; pages that it mapped itself
//   not     what malloc takes its blocks from (what is live in it counts where it is reached), stacks of threads that
//           have ended, the agent and what it shares with the collector
//
// Pages that nobody is known to have mapped are roots with glibc's malloc, whose own pages can be told by their form.
// Another allocator's cannot: with one of those they are none.
//
// Guarantees
//  - Blocks of the table are part of ranges, and LeakMarks leaves them out.
// Trust:    everything is the target's; the worst that it can do is to be told wrong about itself.
#pragma once

#include "cli/collect/leaks/block_table.h"
#include "cli/collect/leaks/target_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct LeakThread {
  uint64_t stack_avma = 0;   // its stack pointer, less what lies below it and counts
  uint64_t thread_avma = 0;  // its thread pointer
};

struct RootFacts {
  std::vector<LeakThread> threads;
  std::vector<MemoryRange> own_pages;  // the agent's
  std::vector<MemoryRange> mapped;     // by the program itself, as the books have it
  uint64_t arena_inode = 0;
  std::string allocator;  // path of the object that serves malloc; empty: the program
  bool inherits = false;  // a forked child: what its parent had is in no book
};

// Whose memory it is; a block counts with the first of them that leads to it (root_holders.h).
enum class RootKind : uint8_t {
  kVariable,     // of the program or a library
  kThreadLocal,  // storage of threads
  kMapped,       // by the program itself
  kStack,        // and registers
  kOther         // unknown
};

struct LeakRoot {
  MemoryRange range;
  bool is_libc = false;
  RootKind kind = RootKind::kOther;
  std::string module;       // of a variable: the path of its file
  uint64_t start_avma = 0;  // likewise: where its first page is; 0: not known
  uint64_t base_avma = 0;   // likewise: what is added to its addresses
};

std::vector<LeakRoot> find_roots(TargetMemory* memory, const BlockTable& blocks, const RootFacts& facts);

// True of glibc's own file.
bool is_libc_path(const std::string& path);

}  // namespace heapprof::cli
