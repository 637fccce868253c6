// agent/process/own_pages.h: the agent's private mappings. They are needed when the process's memory is searched for
// pointers, and for questions about its heap.
//
// A context stores the addresses of the stack slots that it walked last. If that stack is a coroutine's, in a block of
// the heap, these addresses look like the program's pointers into that block.
//
// Guarantees
//  - An entry is complete in the table before it is counted. A forked child keeps its parent's entries, because it has
//    the same pages.
//  - Once there is an arena, each entry is reported to the collector.
// Context:  anywhere in the agent. Cost: only when pages are mapped.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct OwnPages {
  uint64_t address;
  uint64_t size_bytes;
};
static_assert(sizeof(OwnPages) == 16);  // shared/README.md: own_pages_avma

// These pages stay the agent's as long as the process lives, or until a detach. If the table is full, they are not
// noted.
void note_own_pages(const void* pages, size_t size_bytes);

const OwnPages* own_pages();
uint32_t own_pages_count();

}  // namespace heapprof::agent
