// agent/process/own_pages.h: the agent's private mappings, for a search of the process's memory for pointers, and for
// questions about its heap.
//
// A context remembers the stack slots that it walked last. If that stack is a coroutine's, a block of the heap, the
// addresses of these slots look like pointers of the program into that block.
//
// Guarantees
//  - An entry is complete in the table before it is counted. A forked child keeps its parent's entries, as it has the
//    pages.
//  - Once there is an arena, each is reported to the collector.
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

// These pages stay the agent's for as long as the process lives, or until a detach. Beyond the table's room nothing is
// noted.
void note_own_pages(const void* pages, size_t size_bytes);

const OwnPages* own_pages();
uint32_t own_pages_count();

}  // namespace heapprof::agent
