// agent/process/own_pages.h: which pages are the agent's own, for who searches the process's memory for pointers,
// or asks what its heap has.
//
// A context remembers the cells of the stack that it walked last. Where that is a coroutine's stack, a block of the
// heap, the addresses of these cells look like pointers of the program's into that block.
//
// Guarantees
//  - An entry stands in the table as a whole before it is counted. A forked child keeps its parent's, whose pages it
//    has.
//  - The collector is told with each, once there is an arena.
// Context:  anywhere in the agent. Cost: none but when pages are mapped.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct OwnPages {
  uint64_t address;
  uint64_t size_bytes;
};
static_assert(sizeof(OwnPages) == 16);  // shared/README.md: own_pages_avma

// These pages stay the agent's for as long as the process lives, or until it lets go of the program (detach). Beyond
// the table's room nothing is noted.
void note_own_pages(const void* pages, size_t size_bytes);

const OwnPages* own_pages();
uint32_t own_pages_count();

}  // namespace heapprof::agent
