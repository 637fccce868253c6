// agent/hooks/allocator_names.h: the other names by which an allocator gives and takes memory: __libc_malloc, mallocx,
// tc_new, mi_malloc, mi_heap_malloc … (shared/allocator_names.def).
//
// Guarantees
//  - A program finds such a name, by a weak reference or dlsym, if and only if it does so without the agent
//    (tests/integration/malloc/allocator_names.sh).
//  - A block counts once. A function that calls one that counts (tried, see agent/start/self_test.cc) is passed
//    through, and so is one that malloc or its kin call themselves: a library's own malloc on top of __libc_malloc.
//  - A name proves nothing: functions of other libraries have to behave like an allocator's in a copy of the process
//    (tests/integration/malloc/inner_names.sh).
// Not provided: libraries that are loaded late; names in the main program; whole arenas that end (jemalloc's mallctl).
// --limit does not hold these functions back.
// Cost:     that of calloc; nothing for malloc and free.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

inline constexpr size_t kAllocatorNames = 0
#define X(name, kind, ...) +1
#include "shared/allocator_names.def"
#undef X
    ;

// Once, at the start, before anything is tried: redirects the functions that exist to their hooks, which record.
void redirect_allocator_names();
// True if one of them is in another object than this.
bool has_allocator_names_beside(const link_map* object);

// Finds libraries besides the one that serves malloc whose functions have such names and do not behave as an
// allocator's (allocator_evidence.h): they are passed through. False: there is no copy of the process to try them in,
// and nothing is known of them. Context: as try_allocator, of the process itself.
bool doubt_allocator_names(const link_map* malloc_object);
// Reports their names to the collector. pre: an arena is mapped.
void note_doubted_names();

// What a trial found. Not 0: the function counts by itself, or belongs to one that does: it is passed through.
struct NamesTrial {
  uint8_t is_passed[kAllocatorNames];
};
// Calls malloc and its kin, and then each of the functions. Context: a copy of the process.
void try_allocator_names(NamesTrial* trial);
void settle_allocator_names(const NamesTrial& trial);

}  // namespace heapprof::agent
