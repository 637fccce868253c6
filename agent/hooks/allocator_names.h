// agent/hooks/allocator_names.h: hooks the other names by which an allocator allocates and frees memory: __libc_malloc,
// mallocx, tc_new, mi_malloc, mi_heap_malloc … (shared/allocator_names.def).
//
// Guarantees
//  - A program finds such a name, by a weak reference or dlsym, if and only if it would find it without the agent
//    (tests/integration/malloc/allocator_names.sh).
//  - A block counts once. If a function calls another one that records, it is passed through: its hook only calls the
//    real function. The agent tries this at the start (agent/start/self_test.cc). A function is also passed through if
//    malloc or its family call it: a library's own malloc may call __libc_malloc.
//  - A name proves nothing: in a copy of the process, functions of libraries other than malloc's have to behave like an
//    allocator's (tests/integration/malloc/inner_names.sh).
// Not provided: libraries that are loaded late; names in the main program; the end of whole arenas (jemalloc's
//               mallctl).
// --limit does not apply to these functions.
// Cost:     that of calloc's hook; nothing for malloc and free.
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

// Called once, at the start, before any function is tried. Redirects the functions that exist to their hooks, which
// record.
void redirect_allocator_names();
// True if one of them is in another object than this.
bool has_allocator_names_beside(const link_map* object);

// Tries the libraries, other than the one that serves malloc, that have functions with such names. If these do not
// behave like an allocator's (allocator_evidence.h), they are passed through. False: no copy of the process could be
// made to try them in, so nothing is known of them. Context: as try_allocator, of the process itself.
bool doubt_allocator_names(const link_map* malloc_object);
// Reports their names to the collector. pre: an arena is mapped.
void note_doubted_names();

// What a trial found. Not 0: another hook records the function's blocks, or malloc's family calls it: it is passed
// through.
struct NamesTrial {
  uint8_t is_passed[kAllocatorNames];
};
// Calls malloc and its family, and then each of the functions. Context: a copy of the process.
void try_allocator_names(NamesTrial* trial);
void settle_allocator_names(const NamesTrial& trial);

}  // namespace heapprof::agent
