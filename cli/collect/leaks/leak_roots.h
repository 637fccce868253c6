// cli/collect/leaks/leak_roots.h: where the search for pointers begins: all memory of a process except the heap's and
// heapprof's own.
//
//   roots   data of the program and its libraries; each thread's stack above its stack pointer; its registers and
//           thread-local storage; memory that the program shares; pages that it mapped itself
//   not     the memory of malloc (live blocks in it are searched when they are reached), stacks of threads that have
//           ended, the agent and what it shares with the collector
//
// Pages of unknown origin are roots with glibc's malloc, whose own pages can be recognised by their form. Another
// allocator's cannot: with one of those such pages are not roots.
//
// Guarantees
//  - The ranges include blocks of the table; LeakMarks leaves these out.
// Trust:    everything is the target's; it can only falsify the report about itself.
#pragma once

#include "cli/collect/leaks/block_table.h"
#include "cli/collect/leaks/target_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct LeakThread {
  uint64_t stack_avma = 0;   // its stack pointer, less the area below it that counts
  uint64_t thread_avma = 0;  // its thread pointer
};

struct RootFacts {
  std::vector<LeakThread> threads;
  std::vector<MemoryRange> own_pages;  // the agent's
  std::vector<MemoryRange> mapped;     // by the program itself, as the books have it
  uint64_t arena_inode = 0;
  std::string allocator;  // path of the object that serves malloc; empty: the program
  bool inherits = false;  // a forked child: its parent's blocks are in no book
};

// The owner of the memory; a block counts for the first of these that leads to it (root_holders.h).
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
  uint64_t start_avma = 0;  // likewise: where its first page is; 0: unknown
  uint64_t base_avma = 0;   // likewise: its load bias
};

std::vector<LeakRoot> find_roots(TargetMemory* memory, const BlockTable& blocks, const RootFacts& facts);

// Whether it is glibc's own file.
bool is_libc_path(const std::string& path);

}  // namespace heapprof::cli
