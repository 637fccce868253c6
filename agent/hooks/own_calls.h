// agent/hooks/own_calls.h: handles calls that an allocator in a library makes of its own functions through the loader's
// tables. Its realloc of nothing calls malloc, its calloc of a large block calls malloc, its sized free calls free, its
// new[] calls new. The loader binds these calls to the hooks, which would count one request of the program twice.
//
// Guarantees
//  - A hook calls one of the library's functions. Until that function returns, the library's calls of itself from
//    deeper on the stack (a lower address) are not recorded. Every other call that the library makes is recorded: it
//    allocates for itself, as a program does.
//  - If an exception or longjmp leaves such a call, the call is forgotten when a hook next calls the library from as
//    far out on the stack.
// Not provided: calls by addresses that the library got from dlsym or keeps in tables, and calls through another
//               library: they count twice. Memory that the library requests from itself inside such a function, and
//               does not return to the caller, is not counted. If a block of the library's own begins inside and ends
//               outside, or the reverse, only one of its ends is recorded.
// Context:      start-up, before anything is recorded. pre: no dlclose in another thread.
// Cost:         under 1 ns for a malloc and its free (tests/bench/runs/2026-11-30-own-calls.md); nothing if the library
//               does not refer to a function of the family.
#pragma once

#include <link.h>
#include <stdint.h>

namespace heapprof::agent {

// The frame of the allocator's function, in a library or inside the executable (agent/hooks/inner.h), that this thread
// called last and that has not returned; 0: no such call.
extern constinit thread_local uint64_t t_allocator_frame __attribute__((tls_model("initial-exec")));

class WithinAllocator {
 public:
  explicit WithinAllocator(void* frame) : outer_(t_allocator_frame), frame_(reinterpret_cast<uint64_t>(frame)) {
    t_allocator_frame = frame_;
  }
  ~WithinAllocator() { t_allocator_frame = outer_ > frame_ ? outer_ : 0; }
  WithinAllocator(const WithinAllocator&) = delete;
  WithinAllocator& operator=(const WithinAllocator&) = delete;

 private:
  uint64_t outer_;
  uint64_t frame_;
};

inline bool is_within_allocator(void* frame) { return reinterpret_cast<uint64_t>(frame) < t_allocator_frame; }

// Redirects these calls. malloc_object: the object that serves malloc. Does nothing if that is libc, or if the calls
// are redirected already. Leaves out each function that the main program defines, because the library calls the
// program's.
void redirect_allocator_calls(const link_map* malloc_object);
// Restores the calls. redirect_allocator_calls_again() redirects them again (attach).
void restore_own_calls();
void redirect_allocator_calls_again();

}  // namespace heapprof::agent
