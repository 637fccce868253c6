// cli/collect/leaks/leak_roots.h: where the search for pointers begins: all memory of a process except the heap's and
// heapprof's own.
//
//   roots   data of the program and its libraries; each thread's stack above its stack pointer; its registers and
//           thread-local storage; memory that the program shares; pages that it mapped itself
//   not     the memory of malloc (live blocks in it are searched when they are reached), stacks of threads that have
//           ended, the agent and what it shares with the collector
//
// If malloc is glibc's, pages of unknown origin are roots, because glibc's own pages can be recognised by their form.
// Another allocator's pages cannot be recognised, so with another allocator pages of unknown origin are not roots.
//
// Guarantees
//  - The ranges may include blocks of the table; LeakMarks leaves these out.
// Trust:    everything is the target's; it can only falsify the report about itself.
#pragma once

#include "cli/collect/leaks/block_table.h"
#include "cli/collect/leaks/target_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct LeakThread {
  uint64_t stack_avma = 0;   // its stack pointer, less the red zone below it
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

// What the memory of a root is. If roots of several kinds lead to a block, those of the first kind hold it
// (root_holders.h).
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
  std::string module;       // for variables: the path of their file
  uint64_t start_avma = 0;  // for variables: where the first page of their file is; 0: unknown
  uint64_t base_avma = 0;   // for variables: the load bias of their file
};

std::vector<LeakRoot> find_roots(TargetMemory* memory, const BlockTable& blocks, const RootFacts& facts);

// Whether the path is that of glibc's own file.
bool is_libc_path(const std::string& path);

}  // namespace heapprof::cli
