// agent/hooks/own_calls.h: calls that an allocator in a library makes of its own functions by way of the loader's
// tables: its realloc of nothing calls malloc, its calloc of a large block, its sized free calls free. The loader binds
// them to the hooks, and a block that the program asks for once would count twice.
//
// Guarantees
//  - A call of the library's own, deeper on the same stack than one of its functions that a hook has called and that
//    has not returned, only passes. Every other call of the library's counts: it has blocks for itself, as a program
//    has.
//  - One that was left by an exception or a jump is forgotten with the next call that a hook makes as far out.
// Not provided: what it calls by addresses that it asked dlsym for or keeps in tables, or through another library. What
//               it asks itself for inside of a call and does not give to the caller is its own, and counts for nobody;
//               a block of its own that begins inside and ends outside, or the other way round, has one end in the
//               books.
// Context:      start-up, before anything is recorded. pre: no dlclose in another thread.
// Cost:         2 ns a call, and that only where the library names a function of the family.
#pragma once

#include <link.h>
#include <stdint.h>

namespace heapprof::agent {

// The frame of the allocator's function that this thread called last and that has not returned; 0: there is none. Of a
// library, or inside of the executable (agent/hooks/inner.h).
extern constinit thread_local uint64_t t_allocator_frame __attribute__((tls_model("initial-exec")));

// malloc_object: who serves malloc. Nothing where that is libc, or it is done already. A function that the main program
// has for itself is left out: a call of it is that one's.
void lead_own_calls(const link_map* malloc_object);
// Takes that back, until it is to be done again (attach).
void restore_own_calls();
void lead_own_calls_again();

}  // namespace heapprof::agent
